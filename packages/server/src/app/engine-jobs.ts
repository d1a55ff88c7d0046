import { endLapsedIgnores } from '../errors/life/lapse.ts';
import { compactTallies, deleteOldHours } from '../errors/counts/compact.ts';
import { defaultAges } from '../errors/counts/range.ts';
import { tallyEverywhere } from '../errors/record/tally.ts';
import type { RescueDependencies } from '../runs/dispatch/rescue.ts';
import { rescueRunner } from '../runs/dispatch/rescue.ts';
import type { Duty } from '../jobs/run-job.ts';

const maxAtOnce = 1_000;

/** How long what ended is kept. */
export interface Retention {
  /** Lines that runs wrote. Default 14 days. */
  readonly logsMs: number;
  /** Single occurrences of errors; counts by the hour outlive them. Default 30 days. */
  readonly occurrencesMs: number;
  /** Counts of errors by the hour; those by the day outlive them. Default 90 days. */
  readonly errorHoursMs: number;
  /** Events that are over, and with them the memory of their ids. Default 30 days. */
  readonly eventsMs: number;
  /** Notifications and how they were delivered. Default 30 days. */
  readonly notificationsMs: number;
  /** Sessions that were closed or expired, with all their records. Default 30 days. */
  readonly sessionsMs: number;
  /** Records of channels, also of sessions that go on. Default 30 days. */
  readonly recordsMs: number;
  /** Runs that ended, where their environment does not say otherwise. Default 30 days. */
  readonly runsMs: number;
}

export const defaultRetention: Retention = {
  logsMs: 14 * 86_400_000,
  occurrencesMs: defaultAges.hours,
  errorHoursMs: defaultAges.days,
  eventsMs: 30 * 86_400_000,
  notificationsMs: 30 * 86_400_000,
  sessionsMs: 30 * 86_400_000,
  recordsMs: 30 * 86_400_000,
  runsMs: 30 * 86_400_000,
};

/** Every duty but promotion, which also knows what is due next. */
export function duties(dependencies: RescueDependencies, retention: Retention): Duty[] {
  const { engine, dispatch } = dependencies;
  const { sql, clock } = engine;
  const now = (): Date => new Date(clock.now());
  let lastUnblocked = 0;

  return [
    {
      // Ends runs that waited past their ttl.
      name: 'expirer',
      everyMs: 500,
      async round() {
        const [row] = await sql<{ count: number }[]>`select expire_due(${now()}, ${maxAtOnce}) as count`;
        return (row?.count ?? 0) >= maxAtOnce;
      },
    },
    {
      // Takes back the runs of runners that were not heard of, and leases whose runner is nowhere to be found.
      name: 'rescuer',
      everyMs: 1_000,
      async round() {
        const lost = await sql<{ id: string }[]>`
          select id from runners where expires_at <= ${now()}
          union
          select distinct l.runner_id from leases l where not exists (select from runners r where r.id = l.runner_id)
          union
          select distinct s.runner_id from suspended s
           where s.runner_id is not null and not exists (select from runners r where r.id = s.runner_id)`;
        for (const { id } of lost) {
          // One whose runs cannot be taken back keeps nobody else's.
          await rescueRunner(dependencies, id).catch((error: unknown) => {
            engine.log.warn('upkeep.failed', { duty: 'rescuer', runner: id, error: String(error) });
          });
        }
        return false;
      },
    },
    {
      // Behind registration, which queues waiting runs itself: a run that was parked in the very moment of a registration.
      name: 'unparker',
      everyMs: 2_000,
      async round() {
        const envs = await sql<{ env: number }[]>`
          select c.env from current_versions c where exists (select from parked p where p.env = c.env)`;
        for (const { env } of envs) {
          const [row] = await sql<
            { count: number }[]
          >`select unpark_runs(${env}, ${now()}, ${maxAtOnce}) as count`;
          if (row && row.count > 0) dispatch.wake(env);
        }
        return false;
      },
    },
    {
      // Behind releases, which free their lanes themselves: a lane that was blocked in the very moment its limit was raised.
      name: 'unblocker',
      everyMs: 2_000,
      async round() {
        const rows = await sql<{ id: string; env: number; free: boolean }[]>`
          with page as materialized (
            select * from lanes where blocked and id > ${lastUnblocked} order by id limit ${maxAtOnce}
          ), free as (
            select s.id, s.env,
                   not q.paused and (
                     coalesce(q.concurrency_override, q.concurrency_limit) is null
                     or coalesce(q.concurrency_override, q.concurrency_limit)
                        > (select count(*) from leases x where x.queue_id = s.queue_id and x.key = s.key)
                   ) as free
              from page s join queues q on q.id = s.queue_id
          ), freed as (
            update lanes l set blocked = false from free f where f.id = l.id and f.free
          )
          select id, env, free from free order by id`;
        for (const env of new Set(rows.filter((row) => row.free).map((row) => row.env))) dispatch.wake(env);
        lastUnblocked = rows.length < maxAtOnce ? 0 : Number(rows.at(-1)?.id);
        return rows.length >= maxAtOnce;
      },
    },
    {
      // Everybody reads a lapsed ignore as ended; this writes it down.
      name: 'ignore ender',
      everyMs: 10_000,
      round: () => endLapsedIgnores(sql, now()),
    },
    {
      // Whoever looks at error groups counts what has arrived; this does where nobody looks.
      name: 'error tallier',
      everyMs: 500,
      round: () => tallyEverywhere(sql),
    },
    {
      name: 'error pruner',
      everyMs: 60_000,
      async round() {
        const ages = { hours: retention.occurrencesMs, days: retention.errorHoursMs };
        const compacted = await compactTallies(sql, now(), ages);
        return (await deleteOldHours(sql, now(), ages)) || compacted;
      },
    },
    {
      name: 'pruner',
      everyMs: 60_000,
      async round() {
        // Locked first, here and below: a row that is being taken over by a new run is a new one, and before 17.7, 16.11 and 15.15 PostgreSQL
        // would delete it in the old one's stead.
        const keys = await sql`
          delete from idempotency_keys where ctid = any(array(
            select ctid from idempotency_keys where expires_at <= ${now()} order by expires_at limit ${maxAtOnce}
               for update skip locked))`;
        const logs = await sql`
          delete from run_logs where ctid = any(array(
            select ctid from run_logs where at < ${new Date(clock.now() - retention.logsMs)} limit ${maxAtOnce}))`;
        // A run that still waits may have been rescheduled; others are not pushed any more.
        const debounces = await sql`
          delete from debounces where ctid = any(array(
            select b.ctid from debounces b
             where b.due <= ${now()} and not exists (select from delayed d where d.env = b.env and d.run_id = b.run_id)
             order by b.due limit ${maxAtOnce} for update skip locked))`;
        return [keys, logs, debounces].some(({ count }) => count >= maxAtOnce);
      },
    },
  ];
}
