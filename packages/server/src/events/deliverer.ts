import { deliverDue, type DeliverDependencies } from './deliver.ts';

const maxSleepMs = 1_000;

interface Running {
  hurry(): void;
  stop(): Promise<void>;
}

/** Repeats a round until it is stopped, with a pause where a round answers that nothing is left. */
type Start = (duty: { name: string; everyMs: number; round(): Promise<boolean> }) => Running;

export interface Deliverer {
  /** An event falls due then: do not sleep beyond it. */
  expect(at: number): void;
  stop(): Promise<void>;
}

/**
 * Delivers events on the millisecond, as far as this process knows of them: it sleeps until the earliest is due, and looks every
 * second for those that other processes stored. While nothing is due, a look reads one entry of an index.
 */
export function startDeliverer(dependencies: DeliverDependencies, start: Start): Deliverer {
  const { sql, clock } = dependencies.engine;
  let timer: NodeJS.Timeout | undefined;
  let timerAt = Number.POSITIVE_INFINITY;

  const duty = start({
    name: 'deliverer',
    everyMs: maxSleepMs,
    async round() {
      const [next] = await sql<{ due: Date }[]>`select due from pending_events order by due limit 1`;
      if (!next) return false;
      if (next.due.getTime() > clock.now()) {
        expect(next.due.getTime());
        return false;
      }
      // Nothing to take: another process has what is due, and will be done with it before the next look.
      return (await deliverDue(dependencies)) > 0;
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
