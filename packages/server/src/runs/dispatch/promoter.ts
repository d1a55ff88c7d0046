import type { Job } from '../../jobs/job.ts';
import type { Timer } from '../../jobs/timer.ts';
import type { Engine } from '../engine/engine.ts';
import { endDueWaits } from '../waits/due.ts';
import type { Dispatch } from './dispatch.ts';

const maxAtOnce = 1_000;

export interface PromoterDependencies {
  readonly engine: Engine;
  readonly dispatch: Pick<Dispatch, 'wake'>;
  readonly resume: (env: number) => void;
  readonly timer: Timer;
}

/**
 * The job that queues runs when their delay or the pause before a retry has ended, returns lanes to the ring when their rate limit allows a
 * start, and ends due waits. It is accurate to the millisecond for the times known to this process. While nothing is due, a tick is one query.
 */
export const promoter = ({ engine, dispatch, resume, timer }: PromoterDependencies): Job => ({
  name: 'promoter',
  everyMs: 1_000,
  timer,
  async tick() {
    const { sql, clock } = engine;
    const { delayed, wait, rateLimitedMs, resumable } = await readDue(engine);
    // Cancellations and expiries make runs ready without a wake-up.
    for (const env of resumable) resume(env);
    const now = clock.now();
    let acted = false;
    if (isDue(delayed, now)) {
      const promoted = await sql<{ env: number }[]>`
        select env from promote_due(${new Date(now)}, ${maxAtOnce})`;
      for (const { env } of promoted) dispatch.wake(env);
      acted = promoted.length > 0;
    }
    if (isDue(wait, now)) {
      const ended = await endDueWaits(engine, maxAtOnce);
      for (const env of ended) dispatch.wake(env);
      acted ||= ended.length > 0;
    }
    if (isDue(rateLimitedMs, 0)) {
      const released = await sql<{ env: number }[]>`select env from release_rate_limited(${maxAtOnce})`;
      for (const { env } of released) dispatch.wake(env);
      acted = true;
    }
    if (acted) return true;
    // Due runs that cannot be claimed are being promoted by another process, which finishes before the next tick.
    const next = Math.min(
      ...[delayed, wait].filter((at) => at !== null && at > now).map(Number),
      // Rate limits use the database's clock, which may differ slightly from this one.
      rateLimitedMs === null ? Number.POSITIVE_INFINITY : now + Math.max(1, rateLimitedMs),
    );
    return Number.isFinite(next) && new Date(next);
  },
});

/** Times in milliseconds since 1970, null if there is none. */
interface Due {
  /** When the first delayed run is due. */
  readonly delayed: number | null;
  /** When the first wait ends or token expires. */
  readonly wait: number | null;
  /** Milliseconds until the first rate limit allows a start. */
  readonly rateLimitedMs: number | null;
  /** Environments with suspended runs that are ready. */
  readonly resumable: readonly number[];
}

const isDue = (at: number | null, now: number): boolean => at !== null && at <= now;

async function readDue({ sql }: Engine): Promise<Due> {
  // Rounded up: the database's times are finer than those of this process, by which due rows are claimed.
  const [row] = await sql<Due[]>`
    select (select ceil(extract(epoch from nullif(due, 'infinity')) * 1000)::float8
              from delayed order by due limit 1) as delayed,
           ceil(extract(epoch from least(
             (select w.due from waits w where w.over_at is null and w.due is not null order by w.due limit 1),
             (select t.expires_at from waitpoints t where t.status = 'WAITING' and t.expires_at is not null
               order by t.expires_at limit 1))) * 1000)::float8 as wait,
           (select ceil(extract(epoch from due - rate_now()) * 1000)::float8 from queue_starts
             where due is not null order by due limit 1) as "rateLimitedMs",
           array(select distinct env from suspended where ready_at is not null and runner_id is not null) as resumable`;
  return row ?? { delayed: null, wait: null, rateLimitedMs: null, resumable: [] };
}
