import { column, texts, type Value } from '../db/columns.ts';
import type { Queryable } from '../db/connect.ts';
import { isPlainItem } from '../runs/create/insert-fast.ts';
import type { NewRun } from '../runs/create/row.ts';
import type { BatchRow, PreparedItem, Written } from './batch.ts';

/**
 * The everyday way to fill a batch: all its items come together, and each run queues as soon as it is there. One statement then
 * writes the runs into their lanes and seals the batch, all or nothing. It finds the batch empty and open, or waits for whoever
 * holds its row and finds it so no longer: undefined then, as when the items are not of this kind, and the caller goes the general
 * way.
 */
export async function fillAtOnce(
  sql: Queryable,
  env: number,
  batch: BatchRow,
  items: readonly PreparedItem[],
  now: number,
): Promise<Written | undefined> {
  if (batch.received > 0 || items.length !== batch.run_count || !items.every(queuesAtOnce)) return undefined;
  const runs = items.map((item) => item.run);
  if (new Set(runs.map((run) => run.id)).size < runs.length) return undefined;
  const isFilled =
    (await insertSealed(sql, env, batch, runs, now)) ||
    ((await makeLanes(sql, env, runs)) && (await insertSealed(sql, env, batch, runs, now)));
  if (!isFilled) return undefined;
  return {
    filled: { accepted: items.length, deduplicated: 0, received: items.length, sealed: true },
    tell: ({ dispatch }) => dispatch.wake(env),
  };
}

const queuesAtOnce = ({ run, isOversized }: PreparedItem): boolean =>
  run.state === 'queued' && !isOversized && isPlainItem(run);

/** False if a lane is missing, or the batch is no longer empty and open; then nothing was written. */
async function insertSealed(
  sql: Queryable,
  env: number,
  { id, created_at }: BatchRow,
  runs: readonly NewRun[],
  now: number,
): Promise<boolean> {
  const { kinds, kindOf } = kindsOf(runs);
  // What the runs of a kind share is sent once, and read by its place.
  const pick = (read: (run: NewRun) => Value) => column(kinds, read);
  const [first] = runs;
  const { count } = await sql`
    with lane as materialized (
      select l.id, k.ix
        from unnest(${pick((run) => run.queueId)}::int[], ${pick((run) => run.key)}::text[]) with ordinality as k (queue_id, key, ix)
        -- held, so that no claim drops the lane under its runs
        cross join lateral (
          select x.id from lanes x where x.queue_id = k.queue_id and x.key = k.key and x.route = 0 limit 1 for key share) l
    ), sealed as materialized (
      update batches set sealed_at = ${new Date(now)}, received = run_count
       where env = ${env}::int and id = ${id} and received = 0 and sealed_at is null and aborted_at is null
         and (select count(*) from lane) = ${kinds.length}::int
      returning (select array_agg(l.id order by l.ix) from lane l) as lanes
    ), noted as (
      insert into run_facets (env, facet, span)
      select ${env}::int, f.facet, left(k.id, 10)
        from sealed
        cross join unnest(${pick((run) => run.task)}::text[], ${pick((run) => run.queueId)}::int[], ${pick((run) => run.id)}::text[])
                     as k (task, queue_id, id)
        join queues q on q.id = k.queue_id
        cross join lateral unnest(case when q.name = 'task/' || k.task then array['o:' || k.task]
                                       else array['t:' || k.task, 'q:' || k.queue_id] end) as f (facet)
       order by 1, 2, 3
      on conflict do nothing
    ), items as materialized (
      select i.id, coalesce(i.kind, 1) as kind, i.payload, i.metadata
        from unnest(${texts(sql, runs, (run) => run.id)}, ${kinds.length > 1 ? kindOf : null}::int[],
                    ${texts(sql, runs, (run) => run.payload)}, ${column(runs, (run) => run.metadata)}::text[])
             as i (id, kind, payload, metadata)
    ), made as (
      insert into runs (env, id, task, queue_id, concurrency_key, payload, payload_type, max_attempts, max_duration, ttl, ord,
                        priority_ms, metadata, parent_id, root_id, depth, created_at, batch_id)
      select ${env}::int, i.id, (${pick((run) => run.task)}::text[])[i.kind], (${pick((run) => run.queueId)}::int[])[i.kind],
             (${pick((run) => run.key || null)}::text[])[i.kind], i.payload, (${pick((run) => run.payloadType)}::text[])[i.kind],
             (${pick((run) => run.maxAttempts)}::int[])[i.kind], (${pick((run) => run.maxDuration)}::int[])[i.kind],
             (${pick((run) => run.ttl)}::int[])[i.kind], (${pick((run) => run.ord)}::bigint[])[i.kind],
             (${pick((run) => run.priorityMs)}::int[])[i.kind], i.metadata, ${first?.parentId}::text, ${first?.rootId}::text,
             ${first?.depth}::smallint, ${created_at}::timestamptz, ${id}::text
        from sealed cross join items i
    )
    insert into queued (lane_id, ord, run_id, env, expires_at)
    select sealed.lanes[i.kind], (${pick((run) => run.ord)}::bigint[])[i.kind], i.id, ${env}::int,
           (${pick((run) => expiryOf(run, now))}::timestamptz[])[i.kind]
      from sealed cross join items i`;
  return count === runs.length;
}

/** A time to live counts from the sealing. */
const expiryOf = ({ ttl }: NewRun, now: number): Date | null =>
  ttl !== null && ttl > 0 ? new Date(now + ttl * 1_000) : null;

/** Makes the lanes that are missing, in one order for everybody. Whether there were any. */
async function makeLanes(sql: Queryable, env: number, runs: readonly NewRun[]): Promise<boolean> {
  const { kinds } = kindsOf(runs);
  const { count } = await sql`
    insert into lanes (env, queue_id, key, route)
    select distinct ${env}::int, k.queue_id, k.key, 0
      from unnest(${column(kinds, (run) => run.queueId)}::int[], ${column(kinds, (run) => run.key)}::text[]) as k (queue_id, key)
     order by 2, 3
    on conflict do nothing`;
  return count > 0;
}

/** One run of each kind, those that differ in nothing but id, payload and metadata; and for each run its kind, counted from 1. */
function kindsOf(runs: readonly NewRun[]): { readonly kinds: NewRun[]; readonly kindOf: number[] } {
  const places = new Map<string, number>();
  const kinds: NewRun[] = [];
  let place = 0;
  const kindOf = runs.map((run) => {
    // Most batches are of one kind.
    const last = kinds[place - 1];
    if (last && isOfKind(run, last)) return place;
    const name = JSON.stringify(shared.map((field) => run[field]));
    place = places.get(name) ?? kinds.push(run);
    places.set(name, place);
    return place;
  });
  return { kinds, kindOf };
}

const shared = [
  'task',
  'queueId',
  'key',
  'ord',
  'payloadType',
  'ttl',
  'maxAttempts',
  'maxDuration',
  'priorityMs',
] as const;

const isOfKind = (run: NewRun, other: NewRun): boolean =>
  shared.every((field) => run[field] === other[field]);
