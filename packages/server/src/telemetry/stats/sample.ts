import type { Clock } from '../../db/clock.ts';
import type { Queryable, Sql, Transaction } from '../../db/connect.ts';
import type { Job } from '../../jobs/job.ts';
import type { RunStats } from './record.ts';

/** Why runs of a queue wait: for a runner, for the queue's own limit, or because the queue or the environment is paused. */
export type WaitingState = 'ready' | 'limited' | 'paused';

export interface FleetSample {
  readonly environments: readonly {
    readonly env: number;
    readonly project: string;
    readonly kind: string;
    readonly branch: string | null;
  }[];
  /** The queues with the most waiting runs. */
  readonly queues: readonly {
    readonly env: number;
    readonly queue: string;
    readonly state: WaitingState;
    readonly waiting: number;
    readonly oldestMs: number;
  }[];
  readonly executing: readonly { readonly env: number; readonly queue: string; readonly count: number }[];
  /** Runs that wait for something other than a slot. */
  readonly waiting: readonly {
    readonly env: number;
    readonly what: 'delayed' | 'retrying' | 'pending_version' | 'suspended';
    readonly count: number;
  }[];
  /** Keyed by their labels, joined by commas. */
  readonly pools: readonly {
    readonly env: number;
    readonly pool: string;
    readonly runners: number;
    readonly slots: number;
    readonly used: number;
  }[];
  readonly errors: readonly { readonly env: number; readonly status: string; readonly count: number }[];
  /** How long the earliest due schedule is overdue. */
  readonly scheduleLagMs: number;
  /** An estimate from PostgreSQL's statistics. */
  readonly channels: number;
  readonly tookMs: number;
}

export interface SampleDependencies {
  readonly sql: Sql;
  readonly clock: Pick<Clock, 'now'>;
  readonly stats: RunStats;
}

const everyMs = 5_000;
/** Time after which a process that is still taking a sample is assumed to have died. */
const maxTakingMs = 60_000;
/** After a sample, the next one waits for this multiple of its duration, so sampling uses at most a twentieth of one processor. */
const restFactor = 20;
const maxRestMs = 60_000;
/** Maximum queues of a sample. */
export const maxQueues = 1_000;

/**
 * The job that samples the installation: the waiting runs of each queue and the age of the oldest one, the executing runs, and the existing
 * runners. It counts the waiting runs; the longer that takes, the later the next sample is taken.
 */
export function fleetSampler({ sql, clock, stats }: SampleDependencies): Job {
  /** When the next sample is due, as far as this process knows, in milliseconds since 1970. */
  let dueAt = 0;
  return {
    name: 'fleet sampler',
    everyMs: 1_000,
    async tick() {
      const now = clock.now();
      if (now < dueAt) return false;
      const { count } = await sql`
        update fleet_sample set next_at = ${new Date(now + maxTakingMs)} where next_at <= ${new Date(now)}`;
      if (count === 0) return false;
      const sample = await sql.begin((tx) => takeSample(tx, now));
      const pause = Math.min(maxRestMs, Math.max(everyMs, sample.tookMs * restFactor));
      const next = clock.now() + pause;
      await sql`
        update fleet_sample set taken_at = ${new Date(now)}, sample = ${JSON.stringify(sample)}::text::jsonb,
               next_at = ${new Date(next)}`;
      dueAt = next;
      record(stats, sample, now);
      return false;
    },
  };
}

/** Records the series of queue depth. */
function record(stats: RunStats, { queues, environments }: FleetSample, at: number): void {
  const byEnv = new Map(environments.map(({ env }) => [env, { waiting: 0, oldestMs: 0 }]));
  const byQueue = new Map<string, { env: number; queue: string; waiting: number; oldestMs: number }>();
  for (const { env, queue, waiting, oldestMs } of queues) {
    const key = `${env} ${queue}`;
    const ofQueue = byQueue.get(key) ?? { env, queue, waiting: 0, oldestMs: 0 };
    byQueue.set(key, ofQueue);
    for (const sum of [ofQueue, byEnv.get(env)]) {
      if (!sum) continue;
      sum.waiting += waiting;
      sum.oldestMs = Math.max(sum.oldestMs, oldestMs);
    }
  }
  for (const [env, { waiting, oldestMs }] of byEnv) stats.sampled(env, undefined, waiting, oldestMs, at);
  for (const { env, queue, waiting, oldestMs } of byQueue.values())
    stats.sampled(env, queue, waiting, oldestMs, at);
}

async function takeSample(tx: Transaction, now: number): Promise<FleetSample> {
  const at = new Date(now);
  const begun = performance.now();
  // Each lane is read by key: if the statistics date from when the table was empty, a plan would read the whole table for each lane.
  await tx`
    select set_config('statement_timeout', ${String(maxTakingMs / 2)}, true), set_config('enable_seqscan', 'off', true),
           set_config('enable_bitmapscan', 'off', true)`;
  // The oldest run of a lane is assumed to be its first, although one behind it with a lower priority may be older.
  const queues = await tx<FleetSample['queues']>`
    with used_up as materialized (
      select h.id from shared_limits h where shared_room(h.id, false) = 0
    ), lane as materialized (
      select l.env, l.queue_id, l.blocked or l.ring in (select id from used_up) as blocked, n.waiting, h.since
        from lanes l
       cross join lateral (select count(*)::int as waiting from queued w where w.lane_id = l.id) n
       cross join lateral (
         select w.sort_key + r.priority_ms as since
           from (select x.sort_key, x.run_id from queued x where x.lane_id = l.id order by x.sort_key, x.run_id limit 1) w
          cross join lateral (select y.priority_ms from runs y where y.env = l.env and y.id = w.run_id limit 1) r) h
    ), queue as (
      select l.env, q.name, case when q.paused or e.paused then 'paused' when l.blocked then 'limited' else 'ready' end as state,
             sum(l.waiting) as waiting, greatest(0, ${now}::float8 - min(l.since)) as oldest,
             row_number() over (order by sum(l.waiting) desc) as nth
        from lane l join queues q on q.id = l.queue_id join environments e on e.id = l.env group by 1, 2, 3
    )
    select env, case when nth <= ${maxQueues} then name else 'other' end as queue, state,
           sum(waiting)::float8 as waiting, max(oldest)::float8 as "oldestMs"
      from queue group by 1, 2, 3 order by 1, 2, 3`;
  const executing = await tx<FleetSample['executing']>`
    with queue as (
      select l.env, q.name, count(*) as n, row_number() over (order by count(*) desc) as nth
        from leases l join queues q on q.id = l.queue_id group by 1, 2
    )
    select env, case when nth <= ${maxQueues} then name else 'other' end as queue, sum(n)::int as count
      from queue group by 1, 2 order by 1, 2`;
  const waiting = await tx<FleetSample['waiting']>`
    select env, case when retry then 'retrying' else 'delayed' end as what, count(*)::int as count from delayed group by 1, 2
    union all
    select env, 'pending_version', count(*)::int from pending_version group by 1
    union all
    select env, 'suspended', count(*)::int from suspended group by 1`;
  const pools = await tx<FleetSample['pools']>`
    select r.env, array_to_string(array(select unnest(r.labels) order by 1), ',') as pool, count(*)::int as runners,
           sum(case when r.draining or r.stopping then 0 else r.slots end)::int as slots,
           coalesce(sum(l.used), 0)::int as used
      from runners r left join (select runner_id, count(*) as used from leases group by runner_id) l on l.runner_id = r.id
     where r.expires_at > ${at} group by 1, 2 order by 1, 2`;
  const errors = await tx<FleetSample['errors']>`
    select env, status, count(*)::int as count from error_groups group by 1, 2`;
  const [others] = await tx<{ lag: number | null; channels: number }[]>`
    select (select ${now}::float8 - extract(epoch from s.next_at) * 1000 from schedules s
             where s.next_at <= ${at} order by s.next_at limit 1)::float8 as lag,
           (select greatest(0, c.reltuples) from pg_class c where c.oid = 'channels'::regclass)::float8 as channels`;
  const envs = [...new Set([queues, executing, waiting, pools, errors].flat().map(({ env }) => env))];
  const environments = await tx<FleetSample['environments']>`
    select e.id as env, p.ref as project, e.kind, e.branch
      from environments e join projects p on p.id = e.project_id where e.id = any(${envs}::int[])`;
  return {
    environments,
    queues,
    executing,
    waiting,
    pools,
    errors,
    scheduleLagMs: Math.max(0, others?.lag ?? 0),
    channels: others?.channels ?? 0,
    tookMs: performance.now() - begun,
  };
}

/** The last sample and its age. Undefined before the first one. */
export async function readSample(
  sql: Queryable,
  clock: Pick<Clock, 'now'>,
): Promise<(FleetSample & { readonly ageMs: number }) | undefined> {
  const [row] = await sql<{ taken_at: Date | null; sample: FleetSample | null }[]>`
    select taken_at, sample from fleet_sample`;
  if (!row?.sample || !row.taken_at) return undefined;
  return { ...row.sample, ageMs: Math.max(0, clock.now() - row.taken_at.getTime()) };
}
