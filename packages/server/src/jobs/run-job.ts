import type { Log } from '../logger.ts';

/** One maintenance duty: one noun, one thing that it keeps in order. */
export interface Duty {
  readonly name: string;
  /** Pause between two rounds. A round that did all it may do at once is followed by the next without one. */
  readonly everyMs: number;
  /** One round; answers true if there is more to do. */
  round(): Promise<boolean>;
}

export interface RunningDuty {
  /** Starts the next round now, or right after the one under way. */
  hurry(): void;
  stop(): Promise<void>;
}

/**
 * Repeats a duty until stopped. Every server process does so: rounds of several processes share the work row by row
 * (`for update skip locked`), and a round that fails is logged and tried again.
 */
export function startDuty(duty: Duty, log: Log): RunningDuty {
  let stopped = false;
  let again = false;
  let timer: NodeJS.Timeout | undefined;
  let wake: (() => void) | undefined;

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve;
      timer = setTimeout(resolve, ms);
      timer.unref();
    });

  const loop = async (): Promise<void> => {
    while (!stopped) {
      again = false;
      let more = false;
      try {
        more = await duty.round();
      } catch (error) {
        if (!stopped) log.warn('upkeep.failed', { duty: duty.name, error: String(error) });
      }
      if (!more && !again && !stopped) await pause(duty.everyMs);
      clearTimeout(timer);
    }
  };
  const running = loop();

  return {
    hurry() {
      again = true;
      wake?.();
    },
    async stop() {
      stopped = true;
      wake?.();
      await running;
    },
  };
}
