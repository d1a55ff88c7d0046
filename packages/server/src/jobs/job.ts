import type { Clock } from '../db/clock.ts';
import type { Log } from '../logger.ts';
import type { Timer, Wakeable } from './timer.ts';

/** A background job, named after its task, such as `run pruner`. */
export interface Job {
  readonly name: string;
  /** The maximum pause between two ticks. */
  readonly everyMs: number;
  /** The timer with which other parts of the server wake the job. */
  readonly timer?: Timer;
  /** Does a limited amount of work. Returns true if there is more to do now, or the time when the next work is due, if known. */
  tick(): Promise<boolean | Date>;
  /** Ends the work begun by ticks. Called after the last tick. */
  stop?(): Promise<unknown>;
}

/** The result of a tick. */
export interface Ticked {
  readonly job: string;
  readonly failed: boolean;
  readonly tookMs: number;
  /** How late the tick began. */
  readonly lagMs: number;
}

export interface RunningJob extends Wakeable {
  stop(): Promise<void>;
}

/**
 * Repeats a job until it is stopped. Every server process runs every job: the processes share the work row by row (`for update skip locked`). A
 * failed tick is logged and retried.
 */
export function startJob(
  job: Job,
  {
    clock,
    log,
    onTick,
    firstInMs = 0,
  }: {
    readonly clock: Pick<Clock, 'now'>;
    readonly log: Log;
    readonly onTick?: (ticked: Ticked) => void;
    /** The pause before the first tick. */
    readonly firstInMs?: number;
  },
): RunningJob {
  let stopped = false;
  let again = false;
  let dueAt = Number.POSITIVE_INFINITY;
  let nextTickAt = 0;
  /** When the maximum pause ends, in milliseconds of `performance`, because the other clock may be set back during a pause. */
  let latestTickAt = 0;
  /** When the next tick should begin; undefined if it was woken. */
  let expectedAt: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  let endPause: (() => void) | undefined;

  const setTimer = (): void => {
    clearTimeout(timer);
    const left = Math.min(nextTickAt - clock.now(), latestTickAt - performance.now());
    // Adds one, because the clock counts whole milliseconds.
    timer = setTimeout(() => endPause?.(), Math.max(0, left) + 1);
    timer.unref();
  };

  const pause = async (maxMs: number): Promise<void> => {
    await new Promise<void>((resolve) => {
      endPause = resolve;
      nextTickAt = Math.min(clock.now() + maxMs, dueAt);
      latestTickAt = performance.now() + maxMs;
      setTimer();
    });
    expectedAt = again ? undefined : nextTickAt;
    endPause = undefined;
    clearTimeout(timer);
  };

  const running: RunningJob = {
    wakeNow() {
      again = true;
      endPause?.();
    },
    wakeAt(at) {
      dueAt = Math.min(dueAt, at);
      if (!endPause || dueAt >= nextTickAt) return;
      nextTickAt = dueAt;
      setTimer();
    },
    async stop() {
      stopped = true;
      detach?.();
      endPause?.();
      await loop;
      await job.stop?.();
    },
  };
  const detach = job.timer?.attach(running);

  const repeat = async (): Promise<void> => {
    if (firstInMs > 0) await pause(firstInMs);
    while (!stopped) {
      again = false;
      if (dueAt <= clock.now()) dueAt = Number.POSITIVE_INFINITY;
      let more: boolean | Date = false;
      const begun = performance.now();
      const lagMs = expectedAt === undefined ? 0 : Math.max(0, clock.now() - expectedAt);
      expectedAt = undefined;
      let failed = false;
      try {
        more = await job.tick();
      } catch (error) {
        failed = true;
        if (!stopped) log.warn('job.failed', { job: job.name, error: String(error) });
      }
      onTick?.({ job: job.name, failed, tookMs: performance.now() - begun, lagMs });
      if (more instanceof Date) running.wakeAt(more.getTime());
      if (more !== true && !again && !stopped) await pause(job.everyMs);
    }
  };
  const loop = repeat();
  return running;
}
