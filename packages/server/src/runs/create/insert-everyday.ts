import type { Fragment } from '../../db/connect.ts';
import type { Engine } from '../engine/engine.ts';
import { arraysOf, namesOf, valuesOf } from './parameters.ts';
import { everydayColumns, requestColumns, type NewRun } from './row.ts';

/**
 * The fast paths of everyday triggers. Each is one statement that writes all of its runs, or none if a precondition does not hold (a lane
 * is missing, or a run is ahead). The caller then uses the general path, which costs one and a half times as much (decision 33).
 */

const columns = { ...everydayColumns, ...requestColumns };
const names = namesOf(columns);
const values = valuesOf(columns);
const queuedColumns = {
  ...columns,
  expiresAt: { name: 'expires_at', type: 'timestamptz', value: (run: NewRun) => run.expiresAt },
} as const;
const queuedNames = namesOf(queuedColumns);
const arrays = arraysOf(queuedColumns);

/** Everyday runs with their lanes. Runs whose lane does not exist are absent. */
const inputOf = ({ sql }: Engine, runs: readonly NewRun[]) => sql`
  select i.*, l.id as lane_id
    from unnest(${arrays({ sql, runs })}) as i (${queuedNames})
    -- held, so that no claim drops the lane before the runs are in it
    cross join lateral (
      select x.id from lanes x where x.queue_id = i.queue_id and x.key = coalesce(i.concurrency_key, '') and x.pinned_version = 0
       limit 1 for key share) l`;

/** Inserts everyday runs and queues them, if their lanes exist. */
export async function insertQueued(engine: Engine, runs: readonly NewRun[]): Promise<boolean> {
  const { sql, clock } = engine;
  const { count } = await sql`
    with input as (${inputOf(engine, runs)}), created as (
      insert into runs (${names}, created_at)
      select ${names}, ${new Date(clock.now())}::timestamptz
        from input where (select count(*) from input) = ${runs.length}::int
    )
    insert into queued (lane_id, sort_key, run_id, env, expires_at)
    select i.lane_id, i.sort_key, i.id, i.env, i.expires_at from input i where (select count(*) from input) = ${runs.length}::int`;
  return count === runs.length;
}

/**
 * Like `insertQueued`, for runs of which each has a cause that the same statement stores, such as a delivery. `cause` is a statement that
 * inserts rows under a condition, and returns as `run` the ids of the runs to be created. Returns these ids; undefined if a lane is missing.
 */
export async function insertQueuedWith(
  engine: Engine,
  runs: readonly NewRun[],
  cause: (condition: Fragment) => Fragment,
): Promise<readonly string[] | undefined> {
  const { sql, clock } = engine;
  const isComplete = sql`(select count(*) from input) = ${runs.length}::int`;
  const [row] = await sql<{ created: readonly string[]; is_complete: boolean }[]>`
    with input as (${inputOf(engine, runs)}), cause as (${cause(isComplete)}), created as (
      insert into runs (${names}, created_at)
      select ${names}, ${new Date(clock.now())}::timestamptz from input where id in (select run from cause)
    ), enqueued as (
      insert into queued (lane_id, sort_key, run_id, env, expires_at)
      select i.lane_id, i.sort_key, i.id, i.env, i.expires_at from input i where i.id in (select run from cause)
    )
    select array(select run from cause) as created, ${isComplete} as is_complete`;
  return row?.is_complete ? row.created : undefined;
}

/**
 * Inserts one everyday run, leased to a runner of this process, in one statement. Returns the fence of its lease; undefined if a limit applies
 * to its queue, a run is ahead of it, or the runner is gone.
 */
export async function insertLeased(
  { sql, clock }: Engine,
  run: NewRun,
  to: { readonly runner: string; readonly version: number },
): Promise<number | undefined> {
  const at = new Date(clock.now());
  const [leased] = await sql<{ fence: string }[]>`
    with free as (
      select r.id, r.no
        from runners r
        join queues q on q.id = ${run.queueId} and not q.paused and q.concurrency_limit is null and q.concurrency_override is null
                      and q.rate_burst is null and q.shared_limit_id is null
        join environments e on e.id = ${run.env} and not e.paused and e.concurrency_limit is null
       where r.id = ${to.runner}
         and (select true from lanes l
               cross join lateral (select from queued w where w.lane_id = l.id limit 1) w
               where l.queue_id = ${run.queueId} and l.key = ${run.concurrencyKey} and l.pinned_version = 0 limit 1) is null
         -- held, so that a rescue sees this lease
         for key share of r
    ), created as (
      insert into runs (${names}, created_at)
      select i.*, ${at}::timestamptz from (select ${values(run)} from free) i
    )
    insert into leases (env, run_id, runner_id, queue_id, key, version_id, attempt, leased_at, runner_no)
    select ${run.env}::int, ${run.id}, free.id, ${run.queueId}::int, ${run.concurrencyKey}, ${to.version}::int, 1, ${at}::timestamptz,
           free.no
      from free
    returning fence`;
  return leased && Number(leased.fence);
}
