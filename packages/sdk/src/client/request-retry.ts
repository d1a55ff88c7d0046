import { grownDelay } from '../retry/backoff.ts';
import type { RequestRetry } from './settings.ts';

/** The properties of a failed attempt that determine whether to retry. */
export interface RetryHints {
  /** Undefined when there was no response. */
  readonly status: number | undefined;
  /** The response header `x-should-retry`: `true` or `false` overrides the status. */
  readonly shouldRetry?: string | undefined;
  /** The response header `x-ratelimit-reset`: milliseconds since 1970. */
  readonly rateLimitReset?: string | undefined;
  /** The response header `retry-after`. Only a number of seconds is used. */
  readonly retryAfter?: string | undefined;
}

/** When to send a failed request again. */
export interface Retry {
  readonly delayMs: number;
  /** Whether the server is unavailable. */
  readonly isOutage: boolean;
}

const isTransient = (status: number | undefined) =>
  status === undefined || status === 408 || status === 409 || status === 429 || status >= 500;

/** No response, or a response from a proxy without a server behind it, from a server without a database, or from one that sheds load. */
const isUnavailable = ({ status, shouldRetry }: RetryHints): boolean =>
  shouldRetry !== 'false' && (status === undefined || status === 502 || status === 503 || status === 504);

/** During an outage, requests are repeated at least this often, so that they succeed soon after its end. */
const maxOutageDelayMs = 5_000;
/** A header does not delay a retry for longer than this. */
const maxRetryAfterMs = 30_000;

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

/** Milliseconds to wait while the server is unavailable, spread so that clients do not all come back at once. */
function outageDelay(retry: RequestRetry, attempt: number, failed: RetryHints, random: () => number): number {
  const grown = Math.min(maxOutageDelayMs, grownDelay(retry, attempt));
  const requested = Math.min(maxRetryAfterMs, Number(failed.retryAfter ?? 0) * 1_000) || 0;
  return Math.max(grown, requested) * (1 + random() / 2);
}

/**
 * Returns a function that is called for each failed attempt of one request, in order, and returns the delay; undefined ends the request.
 * While the server is unavailable, retries continue for `maxOutageInMs` from the first such failure, regardless of their number. For other
 * failures, and for requests that are not `repeatable`, `maxAttempts` applies.
 */
export function requestRetries(
  retry: RequestRetry,
  repeatable: boolean,
  now: () => number = Date.now,
  random: () => number = Math.random,
): (failed: RetryHints) => Retry | undefined {
  let attempts = 0;
  let outageSince: number | undefined;
  return (failed) => {
    attempts += 1;
    const at = now();
    const isOutage = repeatable && isUnavailable(failed);
    if (isOutage) {
      outageSince ??= at;
      const left = outageSince + retry.maxOutageInMs - at;
      if (left > 0) {
        const delayMs = outageDelay(retry, attempts, failed, random);
        return { delayMs: Math.min(left, delayMs), isOutage };
      }
    } else if (outageSince !== undefined) {
      // Attempts during the outage do not count toward the limit for other failures.
      outageSince = undefined;
      attempts = 1;
    }
    const delayMs = requestRetryDelay(retry, attempts, failed, at, random);
    return delayMs === undefined ? undefined : { delayMs, isOutage: false };
  };
}
