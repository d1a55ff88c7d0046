import { ApiConnectionError, ApiError } from './api-error.ts';
import { pause } from '../runs/pause.ts';

const firstMs = 250;
const maxMs = 5_000;

/** A server that is away, busy, or without its database. 500 is a server bug, which retries do not fix. */
const isTransient = (error: unknown): boolean =>
  error instanceof ApiConnectionError ||
  (error instanceof ApiError && !error.isFinal && isBusy(error.status));

const isBusy = (status: number | undefined): boolean =>
  status === undefined || status === 408 || status === 429 || status > 500;

/**
 * Repeats a call until the server replies, however long it is away. For calls on which an attempt depends: if such a call failed, the attempt
 * would fail too, and its retry would repeat the work. The call must be repeatable. Stops when the attempt receives a stop signal.
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
