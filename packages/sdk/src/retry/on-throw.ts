import { currentRun } from '../run-scope.ts';
import { pause } from '../runs/pause.ts';
import { asksToAbort } from './abort-task-run-error.ts';
import { retryDefaults, retryDelay, type RetryOptions } from './backoff.ts';

/** Arguments for the function passed to `retry.onThrow`. */
export interface OnThrowArguments {
  /** The number of the attempt, starting at 1. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** Aborted when the run must stop, or when the `signal` option is. */
  readonly signal: AbortSignal | undefined;
}

/** How `retry.onThrow` retries. */
export interface OnThrowOptions extends RetryOptions {
  /** Stops between two attempts. Default: the signal of the run. */
  signal?: AbortSignal;
}

/**
 * Calls a function until it does not throw, with increasing delays, inside one attempt of a run. Use it for operations that fail
 * occasionally, so that earlier work is not repeated. Throws the error of the last attempt, or an AbortTaskRunError immediately. Stops when
 * the run is canceled or exceeds its time limit. Also works outside of runs.
 *
 * @example
 * const user = await retry.onThrow(async () => api.user(id), { maxAttempts: 5, minTimeoutInMs: 200 });
 */
export async function onThrow<T>(
  act: (args: OnThrowArguments) => T | Promise<T>,
  { signal = currentRun()?.signal, ...options }: OnThrowOptions = {},
): Promise<T> {
  const { maxAttempts = retryDefaults.maxAttempts } = options;
  for (let attempt = 1; ; attempt += 1) {
    signal?.throwIfAborted();
    try {
      return await act({ attempt, maxAttempts, signal });
    } catch (thrown) {
      const delayMs = asksToAbort(thrown) ? undefined : retryDelay(options, attempt, Math.random);
      if (delayMs === undefined || signal?.aborted) throw thrown;
      await pause(delayMs, signal);
    }
  }
}
