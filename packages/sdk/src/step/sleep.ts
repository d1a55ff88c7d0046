import { waitingRun } from '../wait/in-run.ts';
import { lengthOf, type WaitTime } from '../wait/time.ts';
import { ownSteps } from './steps.ts';

/**
 * Waits for a time, or until a date, like `wait.for`. The end of the wait is stored: retries of the run do not wait again.
 *
 * @example
 * await step.sleep('cool off', { days: 3 });
 */
export async function sleep(name: string, time: WaitTime | Date): Promise<void> {
  const steps = ownSteps('step.sleep');
  const { waits } = waitingRun('step.sleep');
  const duration =
    time instanceof Date ? { detail: dateOf(time) } : { sleepMs: lengthOf(time, Date.now(), 'step.sleep') };
  await steps.enter<void>(
    { kind: 'SLEEP', name },
    ({ name: key, detail }) => wait(key, detail),
    async (key) => {
      const stored = { kind: 'SLEEP', status: 'COMPLETED', tries: 1, tookMs: 0, ...duration } as const;
      const { detail } = await steps.store(key, stored);
      return wait(key, detail);
    },
  );

  async function wait(key: string, until: string | undefined): Promise<void> {
    await waits.begin({ key: `step/${key}`, kind: 'TIME', until: Date.parse(until ?? '') });
  }
}

function dateOf(date: Date): string {
  if (Number.isNaN(date.getTime()))
    throw new TypeError('step.sleep requires a duration, such as { minutes: 5 }, or a valid Date.');
  return date.toISOString();
}
