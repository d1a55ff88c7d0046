import { currentRun } from '../run-scope.ts';
import { pause } from '../runs/pause.ts';
import { retryDelay, type RetryOptions } from './backoff.ts';
import { resetDelay, type ResetHeaders } from './reset-headers.ts';

/** Delays that grow exponentially. */
export interface BackoffStrategy extends RetryOptions {
  strategy: 'backoff';
}

/** A delay until the time in a response header. */
export interface HeadersStrategy extends ResetHeaders {
  strategy: 'headers';
  /** The number of attempts, including the first. Default 3. */
  maxAttempts?: number;
}

/** When `retry.fetch` retries. */
export interface FetchRetryOptions {
  /**
   * The strategy by status: `429`, a range such as `500-599`, or several separated by commas. The first match applies. Default: 408, 429
   * and 500–599 with increasing delays, and 429 after its `Retry-After`, if any.
   */
  byStatus?: Record<string, BackoffStrategy | HeadersStrategy>;
  /** The strategy for connection failures. Default: increasing delays. */
  connectionError?: RetryOptions;
  /** The strategy for attempts that exceed `timeoutInMs`. Default: increasing delays. */
  timeout?: RetryOptions;
}

export type FetchOptions = RequestInit & {
  /** How failed attempts are retried; `false` disables retries. */
  retry?: FetchRetryOptions | false;
  /** The time limit for the response headers of each attempt, in milliseconds. Default: no limit. */
  timeoutInMs?: number;
};

const byDefault: NonNullable<FetchRetryOptions['byStatus']> = {
  '429': { strategy: 'headers', resetHeader: 'retry-after', resetFormat: 'delay_seconds' },
  '408,500-599': { strategy: 'backoff' },
};

/**
 * `fetch` with retries by response status, on connection failures and on timeouts. Returns the last response, regardless of its status, or
 * throws the error of the last attempt. The run's signal stops it. A stream body cannot be sent twice, so such a request is not retried.
 *
 * @example
 * const reply = await retry.fetch('https://api.example.com/orders', {
 *   timeoutInMs: 5_000,
 *   retry: {
 *     byStatus: {
 *       '429': { strategy: 'headers', resetHeader: 'x-ratelimit-reset', resetFormat: 'unix_timestamp' },
 *       '500-599': { strategy: 'backoff', maxAttempts: 5 },
 *     },
 *   },
 * });
 */
export async function retryFetch(
  input: string | URL | Request,
  options: FetchOptions = {},
): Promise<Response> {
  const { retry, timeoutInMs, ...init } = options;
  const stop = init.signal ?? (input instanceof Request ? input.signal : undefined);
  const own = currentRun()?.signal;
  const signals = [stop, own].filter((signal) => signal !== undefined && signal !== null);
  const signal = signals.length > 1 ? AbortSignal.any(signals) : signals[0];
  const isOnce = retry === false || init.body instanceof ReadableStream;
  const { byStatus = byDefault, connectionError = {}, timeout = {} } = retry === false ? {} : (retry ?? {});
  for (let attempt = 1; ; attempt += 1) {
    signal?.throwIfAborted();
    const clock = timeoutInMs === undefined ? undefined : AbortSignal.timeout(timeoutInMs);
    const either = [signal, clock].filter((item) => item !== undefined);
    let reply: Response;
    try {
      // A request with its own body can only be read once.
      const again = input instanceof Request ? input.clone() : input;
      reply = await fetch(again, { ...init, ...(either.length > 0 && { signal: AbortSignal.any(either) }) });
    } catch (thrown) {
      if (signal?.aborted || isOnce) throw thrown;
      const delayMs = retryDelay(clock?.aborted ? timeout : connectionError, attempt, Math.random);
      if (delayMs === undefined) throw thrown;
      await pause(delayMs, signal);
      continue;
    }
    const strategy = isOnce ? undefined : strategyFor(reply.status, byStatus);
    const delayMs = strategy && delayOf(strategy, attempt, reply.headers);
    if (delayMs === undefined) return reply;
    await reply.body?.cancel().catch(() => undefined);
    await pause(delayMs, signal);
  }
}

function strategyFor(status: number, byStatus: NonNullable<FetchRetryOptions['byStatus']>) {
  for (const [text, strategy] of Object.entries(byStatus)) {
    for (const part of text.split(',')) {
      const [, first, last = first] = /^\s*(\d{3})\s*(?:-\s*(\d{3}))?\s*$/.exec(part) ?? [];
      if (first === undefined) {
        throw new TypeError(
          `retry.byStatus: "${text}" is not a status; write, for example, 429, 500-599 or 408,500-599.`,
        );
      }
      if (status >= Number(first) && status <= Number(last)) return strategy;
    }
  }
  return undefined;
}

function delayOf(strategy: BackoffStrategy | HeadersStrategy, attempt: number, headers: Headers) {
  const { maxAttempts } = strategy;
  // Both strategies count the remaining attempts in the same way.
  const growing = retryDelay(
    strategy.strategy === 'backoff' ? strategy : { maxAttempts },
    attempt,
    Math.random,
  );
  if (growing === undefined || strategy.strategy === 'backoff') return growing;
  return resetDelay(strategy, headers, Date.now()) ?? growing;
}
