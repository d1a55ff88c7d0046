import { fireDue, type FireDependencies } from './fire.ts';

const maxSleepMs = 1_000;

interface Running {
  hurry(): void;
  stop(): Promise<void>;
}

/** Repeats a round until it is stopped, with a pause where a round answers that nothing is left. */
type Start = (duty: { name: string; everyMs: number; round(): Promise<boolean> }) => Running;

export interface Scheduler {
  /** A schedule is due then: do not sleep beyond it. */
  expect(at: number): void;
  stop(): Promise<void>;
}

/**
 * Fires schedules on the millisecond, as far as this process knows of them: it sleeps until the earliest is due, and looks every
 * second for those that other processes made. While nothing is due, a look reads one entry of an index.
 */
export function startScheduler(dependencies: FireDependencies, start: Start): Scheduler {
  const { sql, clock } = dependencies.engine;
  let timer: NodeJS.Timeout | undefined;
  let timerAt = Number.POSITIVE_INFINITY;

  const duty = start({
    name: 'scheduler',
    everyMs: maxSleepMs,
    async round() {
      const [next] = await sql<{ next_at: Date }[]>`
        select next_at from schedules where next_at is not null order by next_at limit 1`;
      if (!next) return false;
      const at = next.next_at.getTime();
      if (at > clock.now()) {
        expect(at);
        return false;
      }
      // Nothing to claim: another process has what is due, and will be done with it before the next look.
      return (await fireDue(dependencies)) > 0;
    },
  });

  const expect = (at: number): void => {
    const waitMs = at - clock.now();
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
    expect,
    async stop() {
      clearTimeout(timer);
      await duty.stop();
    },
  };
}
