import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { maxPrefetched, Prefetch } from './prefetch.ts';

test('prefetching increases immediately and decreases step by step', () => {
  const prefetch = new Prefetch();
  expect(prefetch.update(0, false)).toBeUndefined();
  expect(prefetch.update(500, false)).toBe(500);
  expect(prefetch.update(0, false)).toBe(400);
  expect(prefetch.update(5_000, false)).toBe(maxPrefetched);
});

test('nothing is prefetched once an attempt has waited too long', () => {
  const prefetch = new Prefetch();
  prefetch.update(500, false);
  expect(prefetch.update(500, true)).toBe(0);
});

test('the amount stays within bounds, returns to 0 when idle, and is reported to the server', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(3_000), fc.boolean()), { maxLength: 50 }), (updates) => {
      const prefetch = new Prefetch();
      let reported = 0;
      for (const [finished, waitedTooLong] of [
        ...updates,
        ...Array.from({ length: 60 }, () => [0, false] as const),
      ]) {
        reported = prefetch.update(finished, waitedTooLong) ?? reported;
        expect(prefetch.amount).toBeGreaterThanOrEqual(0);
        expect(prefetch.amount).toBeLessThanOrEqual(maxPrefetched);
      }
      expect([prefetch.amount, reported]).toEqual([0, 0]);
    }),
  );
});
