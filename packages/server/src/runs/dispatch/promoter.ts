import type { Job } from '../../jobs/job.ts';
import type { Timer } from '../../jobs/timer.ts';
import type { Engine } from '../engine/engine.ts';
import { endDueWaits, environmentsToResume, nextDueWait } from '../waits/due.ts';
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
 * start, and ends due waits. It is accurate to the millisecond for the times known to this process.
 */
export const promoter = ({ engine, dispatch, resume, timer }: PromoterDependencies): Job => ({
  name: 'promoter',
  everyMs: 1_000,
  timer,
  async tick() {
    const { sql, clock } = engine;
    const promoted = await sql<{ env: number }[]>`
      select env from promote_due(${new Date(clock.now())}, ${maxAtOnce})`;
    for (const { env } of promoted) dispatch.wake(env);
    for (const env of await endDueWaits(engine, maxAtOnce)) dispatch.wake(env);
    // Cancellations and expiries make runs ready without a wake-up.
    for (const env of await environmentsToResume(engine)) resume(env);
    const [next] = await sql<{ due: Date | null; rate_limited_ms: number | null }[]>`
      select (select nullif(due, 'infinity') from delayed order by due limit 1) as due,
             (select ceil(extract(epoch from due - rate_now()) * 1000)::float8 from queue_starts
               where due is not null order by due limit 1) as rate_limited_ms`;
    if (next && next.rate_limited_ms !== null && next.rate_limited_ms <= 0) {
      const released = await sql<{ env: number }[]>`select env from release_rate_limited(${maxAtOnce})`;
      for (const { env } of released) dispatch.wake(env);
      return true;
    }
    const due = Math.min(
      next?.due?.getTime() ?? Number.POSITIVE_INFINITY,
      // Rate limits use the database's clock, which may differ slightly from this one.
      next?.rate_limited_ms == null
        ? Number.POSITIVE_INFINITY
        : clock.now() + Math.max(1, next.rate_limited_ms),
      (await nextDueWait(engine)) ?? Number.POSITIVE_INFINITY,
    );
    return Number.isFinite(due) && new Date(due);
  },
});
