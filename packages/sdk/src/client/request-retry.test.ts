import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { requestRetryDelay, type RetryHints } from './request-retry.ts';

const retry = { maxAttempts: 5, minTimeoutInMs: 1_000, factor: 1.6, maxTimeoutInMs: 30_000 };
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

  test('lets x-should-retry decide over the status', () => {
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

  test('never waits longer than the maximum but for a rate limit', () => {
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
