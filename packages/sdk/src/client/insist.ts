import { ApiConnectionError, ApiError } from './api-error.ts';
import { logger } from '../logger/logger.ts';
import { pause } from '../runs/pause.ts';

const firstMs = 250;
const maxMs = 5_000;
/** After this time the log of the run shows why it does not continue. The interval doubles. */
const firstWarningMs = 60_000;

/** A server that is unavailable, busy, or without its database. 500 is a server bug, which retries do not fix. */
const isTransient = (error: unknown): boolean =>
  error instanceof ApiConnectionError ||
  (error instanceof ApiError && !error.isFinal && isBusy(error.status));

const isBusy = (status: number | undefined): boolean =>
  status === undefined || status === 408 || status === 429 || status > 500;

/**
 * Repeats a call until the server responds, no matter how long it is unavailable. For calls on which an attempt depends: if such a call
 * failed, the attempt would fail too, and its retry would repeat the work. The call must be repeatable. Stops when the attempt receives a
 * stop signal, because its run was canceled or reached its `maxDuration`.
 */
export async function insist<T>(call: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  const begun = performance.now();
  let warningMs = firstWarningMs;
  for (let delayMs = firstMs; ; delayMs = Math.min(maxMs, delayMs * 2)) {
    try {
      return await call();
    } catch (error) {
      if (!isTransient(error) || signal?.aborted) throw error;
      const failingMs = performance.now() - begun;
      if (failingMs >= warningMs) {
        warningMs = failingMs * 2;
        logger.warn(
          `This run is waiting: a call to the Millrace server has failed for ${Math.round(failingMs / 1_000)} s and is being retried. ${(error as Error).message}`,
        );
      }
    }
    await pause(delayMs, signal);
  }
}
