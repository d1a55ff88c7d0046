import { ApiConnectionError, ApiError } from './api-error.ts';
import { pause } from '../runs/pause.ts';

const firstMs = 250;
const maxMs = 5_000;

/** A server that is away, busy, or without its database. 500 is a fault of its own, which no patience mends. */
const isTransient = (error: unknown): boolean =>
  error instanceof ApiConnectionError ||
  (error instanceof ApiError && !error.isFinal && isBusy(error.status));

const isBusy = (status: number | undefined): boolean =>
  status === undefined || status === 408 || status === 429 || status > 500;

/**
 * Calls until the server answers, however long it is away. For what an attempt waits for and has done: if such a call failed, so would the
 * attempt, and its retry would do it again. The call must be repeatable. Ends when the attempt is asked to stop.
 */
export async function insist<T>(call: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  for (let delayMs = firstMs; ; delayMs = Math.min(maxMs, delayMs * 2)) {
    try {
      return await call();
    } catch (error) {
      if (!isTransient(error) || signal?.aborted) throw error;
    }
    await pause(delayMs, signal);
  }
}
