import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { requestRetries, requestRetryDelay, type RetryHints } from './request-retry.ts';

const retry = {
  maxAttempts: 5,
  minTimeoutInMs: 1_000,
  factor: 1.6,
  maxTimeoutInMs: 30_000,
  maxOutageInMs: 60_000,
};
const delay = (attempt: number, hints: RetryHints, random = 0) =>
  requestRetryDelay(retry, attempt, hints, 1_000_000, () => random);

describe('requestRetryDelay', () => {
  test.each([undefined, 408, 409, 429, 500, 503])('retries status %s', (status) => {
    expect(delay(1, { status })).toBe(1_000);
  });

  test.each([400, 401, 403, 404, 413, 422, 301])('does not retry status %s', (status) => {
    expect(delay(1, { status })).toBeUndefined();
  });

  test('grows by 1.6 and gives up after five attempts', () => {
    const delays = [1, 2, 3, 4, 5].map((attempt) => delay(attempt, { status: 500 }));
    expect(delays.map((ms) => ms && Math.round(ms))).toEqual([1_000, 1_600, 2_560, 4_096, undefined]);
  });

  test('gives x-should-retry precedence over the status', () => {
    expect(delay(1, { status: 404, shouldRetry: 'true' })).toBe(1_000);
    expect(delay(1, { status: 500, shouldRetry: 'false' })).toBeUndefined();
    expect(delay(5, { status: 404, shouldRetry: 'true' })).toBeUndefined();
  });

  test('waits for the reset of a rate limit and up to a second more', () => {
    expect(delay(1, { status: 429, rateLimitReset: '1007000' })).toBe(7_000);
    expect(delay(1, { status: 429, rateLimitReset: '1007000' }, 0.5)).toBe(7_500);
  });

  test.each(['999000', '1000', 'soon', ''])(
    'ignores a reset that is past or unreadable: %s',
    (rateLimitReset) => {
      expect(delay(2, { status: 429, rateLimitReset })).toBe(1_600);
    },
  );

  test('never waits longer than the maximum, except for a rate limit', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100_000 }),
        fc.constantFrom(undefined, 408, 409, 429, 500),
        (attempt, status) => {
          const ms = requestRetryDelay(
            { ...retry, maxAttempts: 200_000 },
            attempt,
            { status },
            0,
            Math.random,
          );
          expect(ms).toBeGreaterThanOrEqual(1_000);
          expect(ms).toBeLessThanOrEqual(30_000);
        },
      ),
    );
  });
});

describe('requestRetries', () => {
  /** The delays of a request whose attempts all fail immediately, until it ends. */
  function delaysOf(failures: (at: number) => RetryHints, repeatable = true, settings = retry): number[] {
    let now = 1_000_000;
    const start = now;
    const next = requestRetries(
      settings,
      repeatable,
      () => now,
      () => 0,
    );
    const delays: number[] = [];
    for (;;) {
      const decided = next(failures(now - start));
      if (!decided) return delays;
      delays.push(decided.delayMs);
      now += decided.delayMs;
    }
  }
  const total = (delays: readonly number[]) => delays.reduce((sum, ms) => sum + ms, 0);

  test.each<RetryHints>([
    { status: undefined },
    { status: 502 },
    { status: 503 },
    { status: 503, shouldRetry: 'true' },
    { status: 504 },
  ])('repeats for a minute while the server is unavailable, at least every 5 s: %o', (failure) => {
    const delays = delaysOf(() => failure);
    expect(total(delays)).toBeCloseTo(60_000);
    expect(Math.max(...delays)).toBe(5_000);
  });

  test('ends after maxAttempts for other failures, final ones, and calls that are not repeatable', () => {
    expect(delaysOf(() => ({ status: 500 }))).toHaveLength(4);
    expect(delaysOf(() => ({ status: 503, shouldRetry: 'false' }))).toEqual([]);
    expect(delaysOf(() => ({ status: 503 }), false)).toHaveLength(4);
    expect(delaysOf(() => ({ status: 503 }), true, { ...retry, maxOutageInMs: 0 })).toHaveLength(4);
  });

  test('allows all attempts for another failure after an outage', () => {
    const delays = delaysOf((at) => ({ status: at < 30_000 ? 503 : 500 }));
    expect(delays.slice(-4).map(Math.round)).toEqual([1_000, 1_600, 2_560, 4_096]);
    expect(total(delays)).toBeGreaterThan(39_000);
  });

  test('waits at least as long as Retry-After requests, up to 30 s', () => {
    const first = (retryAfter: string) => delaysOf(() => ({ status: 503, retryAfter }))[0];
    expect(first('7')).toBe(7_000);
    expect(first('0')).toBe(1_000);
    expect(first('3600')).toBe(30_000);
    expect(first('Wed, 21 Oct 2026 07:28:00 GMT')).toBe(1_000);
  });

  test('spreads the delays of many clients by up to 50 %', () => {
    const next = (random: number) =>
      requestRetries(
        retry,
        true,
        () => 0,
        () => random,
      )({ status: 503 })?.delayMs;
    expect([next(0), next(0.5), next(1)]).toEqual([1_000, 1_250, 1_500]);
  });
});
