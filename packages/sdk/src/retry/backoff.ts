import type { MachinePreset } from '@millrace/contract/runner';

/** How an attempt that failed is tried again. What is left out has the default. */
export interface RetryOptions {
  /** All attempts, the first included: 1 to 1,000. Default 3; 1 is no retry. */
  maxAttempts?: number;
  /** Each delay is the one before times this: 1 to 100. Default 2. */
  factor?: number;
  /** Milliseconds before the second attempt. Default 1,000. */
  minTimeoutInMs?: number;
  /** Milliseconds that no delay exceeds. Default 60,000. */
  maxTimeoutInMs?: number;
  /** Multiply each delay by a random factor between 1 and 2, so that what failed together is not tried together. Default true. */
  randomize?: boolean;
}

/** How an attempt of a task is tried again. */
export interface TaskRetryOptions extends RetryOptions {
  /**
   * An attempt that runs out of memory is tried again on this machine, unless it ran on it: its process reached the limit of its heap, was
   * killed by SIGKILL, or its code threw an OutOfMemoryError. Default: it fails the run.
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

/** A delay that starts at the minimum after attempt 1, grows by the factor and stays at the maximum. */
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
 * Milliseconds before the attempt after `attempt` (1 is the first); undefined when that was the last.
 * @param random a number from 0 up to 1
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
