import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { retryDelay, type RetryOptions } from './backoff.ts';

const plain = (options: RetryOptions = {}) => ({ randomize: false, ...options });

describe('retryDelay', () => {
  test('doubles from one second and ends after three attempts by default', () => {
    const delays = [1, 2, 3].map((attempt) => retryDelay(plain(), attempt, () => 0));
    expect(delays).toEqual([1_000, 2_000, undefined]);
  });

  test('is limited to a minute by default', () => {
    expect(retryDelay(plain({ maxAttempts: 100 }), 50, () => 0)).toBe(60_000);
  });

  test('spreads a delay between once and twice its length', () => {
    expect(retryDelay({}, 1, () => 0)).toBe(1_000);
    expect(retryDelay({}, 1, () => 0.5)).toBe(1_500);
  });

  test('uses defaults for undefined options', () => {
    expect(retryDelay({ factor: undefined, randomize: undefined }, 2, () => 0)).toBe(2_000);
  });

  test('returns a whole delay within bounds before every attempt but the last, for all options', () => {
    const options = fc.record(
      {
        maxAttempts: fc.integer({ min: 1, max: 1_000 }),
        factor: fc.double({ min: 1, max: 100, noNaN: true }),
        minTimeoutInMs: fc.nat(),
        maxTimeoutInMs: fc.nat(),
        randomize: fc.boolean(),
      },
      { requiredKeys: [] },
    );
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(options, fc.integer({ min: 1, max: 1_000 }), random, (retry, attempt, chance) => {
        const delay = retryDelay(retry, attempt, () => chance);
        const isLast = attempt >= (retry.maxAttempts ?? 3);
        const isWithin = Number.isInteger(delay) && delay! >= 0 && delay! <= (retry.maxTimeoutInMs ?? 60_000);
        expect(isLast ? delay === undefined : isWithin).toBe(true);
      }),
    );
  });

  test('never shrinks from one attempt to the next without randomness', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 998 }),
        fc.double({ min: 1, max: 100, noNaN: true }),
        (attempt, factor) => {
          const retry = plain({ maxAttempts: 1_000, factor });
          expect(retryDelay(retry, attempt, () => 0)).toBeLessThanOrEqual(
            retryDelay(retry, attempt + 1, () => 0)!,
          );
        },
      ),
    );
  });
});
