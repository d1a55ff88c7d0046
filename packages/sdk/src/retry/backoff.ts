import type { MachinePreset } from '@millrace/contract/runner';

/** How failed attempts are retried. Omitted settings have their defaults. */
export interface RetryOptions {
  /** The number of attempts, including the first: 1 to 1,000. Default 3; 1 disables retries. */
  maxAttempts?: number;
  /** Each delay is the previous one multiplied by this: 1 to 100. Default 2. */
  factor?: number;
  /** Milliseconds before the second attempt. Default 1,000. */
  minTimeoutInMs?: number;
  /** The maximum delay in milliseconds. Default 60,000. */
  maxTimeoutInMs?: number;
  /** Multiply each delay by a random factor between 1 and 2, so that runs that failed together are not retried together. Default true. */
  randomize?: boolean;
}

/** How attempts of a task are retried. */
export interface TaskRetryOptions extends RetryOptions {
  /**
   * The machine on which to retry an attempt that ran out of memory, unless it already ran on that machine. An attempt runs out of memory
   * if its process reached its heap limit, was killed by SIGKILL, or its code threw an OutOfMemoryError. Default: the run fails.
   */
  outOfMemory?: { machine: MachinePreset };
}

/** The defaults of RetryOptions. */
export const retryDefaults: Readonly<Required<RetryOptions>> = {
  maxAttempts: 3,
  factor: 2,
  minTimeoutInMs: 1_000,
  maxTimeoutInMs: 60_000,
  randomize: true,
};

interface Growth {
  readonly minTimeoutInMs: number;
  readonly factor: number;
  readonly maxTimeoutInMs: number;
}

/** A delay that starts at the minimum after attempt 1, grows by the factor, and is capped at the maximum. */
export function grownDelay(
  { minTimeoutInMs, factor, maxTimeoutInMs }: Growth,
  attempt: number,
  spread = 1,
): number {
  // Infinity times a minimum of 0 would be NaN.
  const growth = Math.min(factor ** (attempt - 1), Number.MAX_SAFE_INTEGER);
  return Math.min(maxTimeoutInMs, spread * minTimeoutInMs * growth);
}

/**
 * Milliseconds before the attempt after `attempt` (1 is the first). Undefined if that was the last.
 * @param random returns a number from 0 up to 1
 */
export function retryDelay(retry: RetryOptions, attempt: number, random: () => number): number | undefined {
  const {
    maxAttempts = retryDefaults.maxAttempts,
    factor = retryDefaults.factor,
    minTimeoutInMs = retryDefaults.minTimeoutInMs,
    maxTimeoutInMs = retryDefaults.maxTimeoutInMs,
    randomize = retryDefaults.randomize,
  } = retry;
  if (attempt >= maxAttempts) return undefined;
  return Math.round(
    grownDelay({ factor, minTimeoutInMs, maxTimeoutInMs }, attempt, randomize ? 1 + random() : 1),
  );
}
