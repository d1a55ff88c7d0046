import { grownDelay } from '../retry/backoff.ts';
import type { RequestRetry } from './settings.ts';

/** The properties of a failed attempt that decide whether to retry. */
export interface RetryHints {
  /** Undefined when there was no response. */
  readonly status: number | undefined;
  /** The response header `x-should-retry`: `true` or `false` overrides the status. */
  readonly shouldRetry?: string | undefined;
  /** The response header `x-ratelimit-reset`: milliseconds since 1970. */
  readonly rateLimitReset?: string | undefined;
}

const isTransient = (status: number | undefined) =>
  status === undefined || status === 408 || status === 409 || status === 429 || status >= 500;

/**
 * Milliseconds to wait before the next attempt of a request. Undefined when it must not be retried.
 * @param attempt the attempt that failed, 1 for the first
 */
export function requestRetryDelay(
  retry: RequestRetry,
  attempt: number,
  failed: RetryHints,
  now: number,
  random: () => number,
): number | undefined {
  if (attempt >= retry.maxAttempts || failed.shouldRetry === 'false') return undefined;
  if (failed.shouldRetry !== 'true' && !isTransient(failed.status)) return undefined;
  if (failed.status === 429) {
    const reset = Number(failed.rateLimitReset ?? Number.NaN);
    // Spread over a second, so that rejected clients do not all retry at once.
    if (reset > now) return Math.ceil(reset - now + random() * 1_000);
  }
  return grownDelay(retry, attempt);
}
