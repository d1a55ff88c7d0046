import { column, texts, type Value } from '../../db/columns.ts';
import type { Queryable } from '../../db/connect.ts';
import type { Engine } from '../engine.ts';
import type { NewRun } from './row.ts';

/**
 * The everyday ways to create runs, each in one plain statement at half the cost of `trigger_runs`. Each writes all or nothing:
 * when something is not as it hopes (a lane is missing, somebody is ahead), its caller goes the general way.
 */

/** A run without anything that needs the general way: it queues at once, in the lane of the current version, and is nobody's child. */
export const isPlain = (run: NewRun): boolean =>
  run.state === 'queued' &&
  run.route === 0 &&
  run.batch === undefined &&
  run.parentId === null &&
  hasNothingOwn(run);

/** An item of a batch without anything that needs the general way. */
export const isPlainItem = (run: NewRun): boolean => run.route === 0 && hasNothingOwn(run);

const hasNothingOwn = (run: NewRun): boolean =>
  run.idempotencyKey === null &&
  run.tags.length === 0 &&
  run.machine === null &&
  run.region === null &&
  !run.test &&
  run.scheduleId === undefined &&
  run.event === undefined &&
  run.debounce === undefined &&
  run.replayOf === undefined;

/** Queues plain runs, if their lanes are there. */
export async function insertQueued({ sql, clock }: Engine, runs: readonly NewRun[]): Promise<boolean> {
  const pick = (read: (run: NewRun) => Value) => column(runs, read);
  const { count } = await sql`
    with placed as (
      select i.*, l.id as lane_id
        from unnest(
          ${pick((run) => run.env)}::int[], ${pick((run) => run.id)}::text[], ${pick((run) => run.task)}::text[],
          ${pick((run) => run.queueId)}::int[], ${pick((run) => run.key)}::text[], ${pick((run) => run.ord)}::bigint[],
          ${pick((run) => run.payload)}::text[], ${pick((run) => run.payloadType)}::text[],
          ${pick((run) => run.expiresAt)}::timestamptz[], ${pick((run) => run.ttl)}::int[],
          ${pick((run) => run.metadata)}::text[], ${pick((run) => run.maxAttempts)}::int[],
          ${pick((run) => run.maxDuration)}::int[], ${pick((run) => run.priorityMs || null)}::int[],
          ${pick((run) => run.requestKey)}::uuid[]
        ) as i (env, id, task, queue_id, key, ord, payload, payload_type, expires_at, ttl, metadata, max_attempts, max_duration,
                priority, request)
        -- held, so that no claim drops the lane under it
        cross join lateral (
          select x.id from lanes x where x.queue_id = i.queue_id and x.key = i.key and x.route = 0 limit 1 for key share) l
    ), made as (
      insert into runs (env, id, task, queue_id, concurrency_key, payload, payload_type, max_attempts, max_duration, ttl, ord,
                        priority_ms, metadata, created_at, request_key)
      select p.env, p.id, p.task, p.queue_id, nullif(p.key, ''), p.payload, p.payload_type, p.max_attempts, p.max_duration, p.ttl,
             p.ord, coalesce(p.priority, 0), p.metadata, ${new Date(clock.now())}::timestamptz, p.request
        from placed p where (select count(*) from placed) = ${runs.length}::int
    )
    insert into queued (lane_id, ord, run_id, env, expires_at)
    select p.lane_id, p.ord, p.id, p.env, p.expires_at from placed p where (select count(*) from placed) = ${runs.length}::int`;
  return count === runs.length;
}

/** Creates the runs of plain items of one batch, which go nowhere yet. */
export async function insertHeld(sql: Queryable, runs: readonly NewRun[], createdAt: Date): Promise<void> {
  const pick = (read: (run: NewRun) => Value) => column(runs, read);
  const kinds = [...new Map(runs.map((run) => [kindOf(run), run])).values()];
  await sql`
    with noted as (
      insert into run_facets (env, facet, span)
      select k.env, f.facet, left(k.id, 10)
        from unnest(${kinds.map((run) => run.env)}::int[], ${kinds.map((run) => run.task)}::text[],
                    ${kinds.map((run) => run.queueId)}::int[], ${kinds.map((run) => run.id)}::text[]) as k (env, task, queue_id, id)
        join queues q on q.id = k.queue_id
        cross join lateral unnest(case when q.name = 'task/' || k.task then array['o:' || k.task]
                                       else array['t:' || k.task, 'q:' || k.queue_id] end) as f (facet)
       order by 1, 2, 3
      on conflict do nothing
    )
    insert into runs (env, id, task, queue_id, concurrency_key, payload, payload_type, max_attempts, max_duration, ttl, ord,
                      priority_ms, metadata, delayed_until, parent_id, root_id, depth, created_at, batch_id)
    select ${runs[0]?.env}::int, i.id, i.task, i.queue_id, nullif(i.key, ''), i.payload, i.payload_type, i.max_attempts, i.max_duration,
           i.ttl, i.ord, coalesce(i.priority, 0), i.metadata, i.due, ${runs[0]?.parentId}::text, ${runs[0]?.rootId}::text,
           ${runs[0]?.depth}::smallint, ${createdAt}::timestamptz, ${runs[0]?.batch}::text
      from unnest(
        ${texts(sql, runs, (run) => run.id)}, ${texts(sql, runs, (run) => run.task)}, ${pick((run) => run.queueId)}::int[],
        ${pick((run) => run.key || null)}::text[], ${texts(sql, runs, (run) => run.payload)},
        ${pick((run) => run.payloadType)}::text[], ${pick((run) => run.maxAttempts)}::int[],
        ${pick((run) => run.maxDuration)}::int[], ${pick((run) => run.ttl)}::int[], ${pick((run) => run.ord)}::bigint[],
        ${pick((run) => run.priorityMs || null)}::int[], ${pick((run) => run.metadata)}::text[],
        ${pick((run) => run.due)}::timestamptz[]
      ) as i (id, task, queue_id, key, payload, payload_type, max_attempts, max_duration, ttl, ord, priority, metadata, due)`;
}

/**
 * Creates one plain run, leased to a runner of this process: one commit from call to start. The fence of its lease; undefined when
 * something limits its queue, somebody is ahead of it, or the runner is gone.
 */
export async function insertLeased(
  { sql, clock }: Engine,
  run: NewRun,
  to: { readonly runner: string; readonly version: number },
): Promise<number | undefined> {
  const at = new Date(clock.now());
  const [leased] = await sql<{ fence: string }[]>`
    with free as (
      select r.id
        from runners r
        join queues q on q.id = ${run.queueId} and not q.paused and q.concurrency_limit is null and q.concurrency_override is null
        join environments e on e.id = ${run.env} and not e.paused and e.concurrency_limit is null
       where r.id = ${to.runner}
         and (select true from lanes l
               cross join lateral (select from queued w where w.lane_id = l.id limit 1) w
               where l.queue_id = ${run.queueId} and l.key = ${run.key} and l.route = 0 limit 1) is null
         -- held, so that a rescue sees this lease
         for key share of r
    ), made as (
      insert into runs (env, id, task, queue_id, concurrency_key, payload, payload_type, max_attempts, max_duration, ttl, ord,
                        priority_ms, metadata, created_at, request_key)
      select ${run.env}::int, ${run.id}, ${run.task}, ${run.queueId}::int, nullif(${run.key}, ''), ${run.payload}::text,
             ${run.payloadType}::text, ${run.maxAttempts}::int, ${run.maxDuration}::int, ${run.ttl}::int, ${run.ord}::bigint,
             ${run.priorityMs}::int, ${run.metadata}::text, ${at}::timestamptz, ${run.requestKey ?? null}::uuid
        from free
    )
    insert into leases (env, run_id, runner_id, queue_id, key, version_id, attempt, leased_at)
    select ${run.env}::int, ${run.id}, free.id, ${run.queueId}::int, ${run.key}, ${to.version}::int, 1, ${at}::timestamptz from free
    returning fence`;
  return leased && Number(leased.fence);
}

const spanLength = 10;
const maxNoted = 10_000;

/**
 * The facets (run_facets) of plain runs that this process knows to be recorded. A plain statement writes none: the first run of a kind
 * in a span goes the general way, which does.
 */
export class NotedFacets {
  readonly #noted = new Set<string>();

  has(run: NewRun): boolean {
    return this.#noted.has(kindOf(run));
  }

  /** The run was created the general way, and that is committed. */
  add(run: NewRun): void {
    if (this.#noted.size >= maxNoted) this.#noted.clear();
    this.#noted.add(kindOf(run));
  }
}

const kindOf = ({ env, task, queueId, id }: NewRun): string =>
  `${env} ${id.slice(0, spanLength)} ${queueId} ${task}`;
