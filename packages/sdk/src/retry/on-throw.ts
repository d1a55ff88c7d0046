import { currentRun } from '../run-scope.ts';
import { pause } from '../runs/pause.ts';
import { asksToAbort } from './abort-task-run-error.ts';
import { retryDefaults, retryDelay, type RetryOptions } from './backoff.ts';

/** Parameters of the function of `retry.onThrow`. */
export interface OnThrowArguments {
  /** 1 is the first. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** Aborted when the run is to stop, or as `signal` of the options is. */
  readonly signal: AbortSignal | undefined;
}

/** How `retry.onThrow` tries again. */
export interface OnThrowOptions extends RetryOptions {
  /** Stops between two tries. Default: the signal of the run. */
  signal?: AbortSignal;
}

/**
 * Calls a function until it does not throw, with growing pauses, inside one attempt of a run: for a step that fails now and then, so that
 * the steps before it are not done again. Throws what the last try threw; an AbortTaskRunError at once; and stops when the run is
 * cancelled or out of time. Works outside of runs as well.
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
