import type { Engine } from '../engine.ts';
import type { Dispatch } from './dispatch.ts';
import type { RunningDuty } from '../../jobs/run-job.ts';
import { startDuty } from '../../jobs/run-job.ts';
import { endDueWaits, environmentsToResume, nextDueWait } from '../waits/due.ts';

const maxAtOnce = 1_000;
const maxSleepMs = 1_000;

export interface Promoter extends RunningDuty {
  /** Something falls due then: do not sleep beyond it. */
  expect(at: number): void;
}

/**
 * Queues runs when their delay or the pause before a retry is over, and ends the waits whose time has come: on the millisecond as far as
 * this process knows of it.
 */
export function startPromoter(
  engine: Engine,
  dispatch: Pick<Dispatch, 'wake'>,
  resume: (env: number) => void,
): Promoter {
  let timer: NodeJS.Timeout | undefined;
  let timerAt = Number.POSITIVE_INFINITY;
  const duty = startDuty(
    {
      name: 'promoter',
      everyMs: maxSleepMs,
      async round() {
        const now = engine.clock.now();
        const promoted = await engine.sql<{ env: number; count: number }[]>`
          select env, 0 as count from promote_due(${new Date(now)}, ${maxAtOnce})`;
        for (const { env } of promoted) dispatch.wake(env);
        for (const env of await endDueWaits(engine, maxAtOnce)) dispatch.wake(env);
        // Also those that were made ready by what tells nobody: a cancellation, an expiry.
        for (const env of await environmentsToResume(engine)) resume(env);
        const [next] = await engine.sql<{ due: Date }[]>`select due from delayed order by due limit 1`;
        if (next) expect(next.due.getTime());
        const nextWait = await nextDueWait(engine);
        if (nextWait !== undefined) expect(nextWait);
        return false;
      },
    },
    engine.log,
  );
  const expect = (at: number): void => {
    const waitMs = at - engine.clock.now();
    if (waitMs > maxSleepMs || at >= timerAt) return;
    clearTimeout(timer);
    timerAt = at;
    timer = setTimeout(
      () => {
        timerAt = Number.POSITIVE_INFINITY;
        duty.hurry();
      },
      Math.max(0, waitMs) + 1,
    );
    timer.unref();
  };
  return {
    ...duty,
    expect,
    async stop() {
      clearTimeout(timer);
      await duty.stop();
    },
  };
}
