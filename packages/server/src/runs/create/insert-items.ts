import { raw } from 'sql-template-tag';
import { column, texts, type Value } from '../../db/columns.ts';
import type { Queryable } from '../../db/connect.ts';
import { compactArraysOf, elementsOf, namesOf, valuesOf, writtenOf } from './parameters.ts';
import { everydayColumns, itemColumns, type NewRun } from './row.ts';

/** The statements that create everyday items of a batch. They send what the items share once. */

interface ItemsOfBatch {
  readonly env: number;
  readonly batch: string;
  readonly createdAt: Date;
  readonly runs: readonly NewRun[];
}

const { env, id, payload, metadata, ...same } = everydayColumns;
const { due, pinnedVersion, ...ofBatch } = itemColumns;
const everyday = { ...same, pinnedVersion };

const batchColumns = { env, ...ofBatch };
const batchValues = valuesOf(batchColumns);

const heldColumns = { id, payload, metadata, ...everyday, due };
const held = {
  arrays: compactArraysOf(heldColumns, ['id', 'task', 'payload']),
  arrayNames: namesOf(heldColumns),
  names: namesOf({ ...batchColumns, ...heldColumns }),
  written: writtenOf({ ...batchColumns, ...heldColumns }),
};

/** The facets of the kind `k` of runs, whose queue is `q`. */
const facets = raw(
  `(case when q.name = 'task/' || k.task then array['o:' || k.task, 'v:' || k.version]
         else array['t:' || k.task, 'q:' || k.queue_id, 'v:' || k.version] end)`,
);

/** Inserts items that wait for the sealing of their batch. */
export async function insertHeld(sql: Queryable, { runs, createdAt }: ItemsOfBatch): Promise<void> {
  const first = runs[0] as NewRun;
  // Items of one task in one queue have the same facets, if they are of one span. An id begins with its span.
  const kinds = [
    ...new Map(
      runs.map((run) => [`${run.id.slice(0, 10)} ${run.queueId} ${run.pinnedVersion} ${run.task}`, run]),
    ).values(),
  ];
  const pick = (read: (run: NewRun) => Value) => column(kinds, read);
  await sql`
    with noted as (
      insert into run_facets (env, facet, span)
      select ${first.env}::int, f.facet, left(k.id, 10)
        from unnest(${pick((run) => run.task)}::text[], ${pick((run) => run.queueId)}::int[], ${pick((run) => run.id)}::text[],
                    ${pick(pinnedVersion.value)}::int[]) as k (task, queue_id, id, version)
        join queues q on q.id = k.queue_id
        cross join lateral unnest(${facets}) as f (facet)
       where f.facet is not null
       order by 1, 2, 3
      on conflict do nothing
    ), counted as (
      insert into run_stat_arrivals (env, task, queue_id, what, at, n)
      select ${first.env}::int, k.task, k.queue_id, 'triggered', ${createdAt}::timestamptz, count(*)
        from unnest(${column(runs, (run) => run.task)}::text[], ${column(runs, (run) => run.queueId)}::int[]) as k (task, queue_id)
       group by k.task, k.queue_id
    )
    insert into runs (${held.names}, created_at)
    select ${held.written}, ${createdAt}::timestamptz
      from (select b.*, a.* from (select ${batchValues(first)}) b
             cross join unnest(${held.arrays({ sql, runs })}) as a (${held.arrayNames})) i`;
}

const ofKind = elementsOf(everyday, 'x.kind');
const sealedColumns = { id, payload, metadata, ...everyday, ...batchColumns };
const sealed = { names: namesOf(sealedColumns), written: writtenOf(sealedColumns) };

/**
 * Inserts all items of a batch into their lanes and seals the batch. False if a lane is missing, or the batch is no longer empty and open;
 * then nothing was written. Waits for whoever holds the batch.
 */
export async function insertSealed(
  sql: Queryable,
  { env: environment, batch, createdAt, runs }: ItemsOfBatch,
  now: number,
): Promise<boolean> {
  const { kinds, kindOf } = kindsOf(runs);
  const pick = (read: (run: NewRun) => Value) => column(kinds, read);
  const { count } = await sql`
    with lane as materialized (
      select l.id, k.ix
        from unnest(${pick((run) => run.queueId)}::int[], ${pick((run) => run.concurrencyKey)}::text[], ${pick(pinnedVersion.value)}::int[])
               with ordinality as k (queue_id, key, version, ix)
        -- held, so that no claim drops the lane before the runs are in it
        cross join lateral (
          select x.id from lanes x
           where x.queue_id = k.queue_id and x.key = k.key and x.pinned_version = coalesce(k.version, 0) limit 1 for key share) l
    ), sealed as materialized (
      update batches set sealed_at = ${new Date(now)}, received = run_count
       where env = ${environment}::int and id = ${batch} and received = 0 and sealed_at is null and aborted_at is null
         and (select count(*) from lane) = ${kinds.length}::int
      returning (select array_agg(l.id order by l.ix) from lane l) as lanes
    ), noted as (
      insert into run_facets (env, facet, span)
      select ${environment}::int, f.facet, left(k.id, 10)
        from sealed
        cross join unnest(${pick((run) => run.task)}::text[], ${pick((run) => run.queueId)}::int[], ${pick((run) => run.id)}::text[],
                          ${pick(pinnedVersion.value)}::int[]) as k (task, queue_id, id, version)
        join queues q on q.id = k.queue_id
        cross join lateral unnest(${facets}) as f (facet)
       where f.facet is not null
       order by 1, 2, 3
      on conflict do nothing
    ), items as materialized (
      select i.id, coalesce(i.kind, 1) as kind, i.payload, i.metadata
        from unnest(${texts(sql, runs, (run) => run.id)}, ${kinds.length > 1 ? kindOf : null}::int[],
                    ${texts(sql, runs, (run) => run.payload)}, ${column(runs, (run) => run.metadata)}::text[])
             as i (id, kind, payload, metadata)
    ), counted as (
      insert into run_stat_arrivals (env, task, queue_id, what, at, n)
      select ${environment}::int, (${pick((run) => run.task)}::text[])[i.kind], (${pick((run) => run.queueId)}::int[])[i.kind],
             'triggered', ${new Date(now)}::timestamptz, count(*)
        from sealed cross join items i group by i.kind
    ), made as (
      insert into runs (${sealed.names}, created_at)
      select ${sealed.written}, ${createdAt}::timestamptz
        from (select x.id, x.payload, x.metadata, ${ofKind(kinds)}, ${batchValues(runs[0] as NewRun)}
                from sealed cross join items x) i
    )
    insert into queued (lane_id, sort_key, run_id, env, expires_at)
    select sealed.lanes[i.kind], (${pick((run) => run.sortKey)}::bigint[])[i.kind], i.id, ${environment}::int,
           (${pick((run) => expiryOf(run, now))}::timestamptz[])[i.kind]
      from sealed cross join items i`;
  return count === runs.length;
}

/** A time to live begins when the batch is sealed. */
const expiryOf = ({ ttl }: NewRun, now: number): Date | null =>
  ttl !== null && ttl > 0 ? new Date(now + ttl * 1_000) : null;

/** Makes the lanes that are missing, in one order for every caller. Replies whether any was. */
export async function makeLanes(
  sql: Queryable,
  environment: number,
  runs: readonly NewRun[],
): Promise<boolean> {
  const { kinds } = kindsOf(runs);
  const { count } = await sql`
    insert into lanes (env, queue_id, key, pinned_version)
    select distinct ${environment}::int, k.queue_id, k.key, coalesce(k.version, 0)
      from unnest(${column(kinds, (run) => run.queueId)}::int[], ${column(kinds, (run) => run.concurrencyKey)}::text[],
                  ${column(kinds, pinnedVersion.value)}::int[]) as k (queue_id, key, version)
     order by 2, 3, 4
    on conflict do nothing`;
  return count > 0;
}

const fieldsOfKind = Object.keys(everyday) as (keyof typeof everyday)[];

/** One run of each kind, and for each run the index of its kind, from 1. Runs of a kind differ only in id, payload and metadata. */
function kindsOf(runs: readonly NewRun[]): { readonly kinds: NewRun[]; readonly kindOf: number[] } {
  const indexes = new Map<string, number>();
  const kinds: NewRun[] = [];
  let index = 0;
  const kindOf = runs.map((run) => {
    // Most batches are of one kind.
    const last = kinds[index - 1];
    if (last && fieldsOfKind.every((field) => run[field] === last[field])) return index;
    const name = JSON.stringify(fieldsOfKind.map((field) => run[field]));
    index = indexes.get(name) ?? kinds.push(run);
    indexes.set(name, index);
    return index;
  });
  return { kinds, kindOf };
}
