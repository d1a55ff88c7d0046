import { expect, test, vi } from 'vitest';
import { createRateLimiter, defaultRateLimits } from './rate-limit.ts';

test('a burst is allowed, then one request for each refilled token', () => {
  const { take } = createRateLimiter({ burst: 3, perSecond: 10 });
  expect(
    [take('a', 0), take('a', 0), take('a', 0)].map(({ allowed, remaining }) => [allowed, remaining]),
  ).toEqual([
    [true, 2],
    [true, 1],
    [true, 0],
  ]);
  expect(take('a', 0)).toEqual({ allowed: false, remaining: 0, resetAt: 100 });
  expect(take('a', 99).allowed).toBe(false);
  expect(take('a', 100).allowed).toBe(true);
  expect(take('a', 10_000)).toEqual({ allowed: true, remaining: 2, resetAt: 10_000 });
});

test('callers have separate buckets', () => {
  const { take } = createRateLimiter({ burst: 1, perSecond: 1 });
  expect(take('a', 0).allowed).toBe(true);
  expect(take('a', 0).allowed).toBe(false);
  expect(take('b', 0).allowed).toBe(true);
});

test('requests within the limits of published clients are never rejected', () => {
  const { publicToken, personalAccessToken, secretKey } = defaultRateLimits;
  expect(secretKey).toBeUndefined();
  for (const [limit, burst, everyMs, size] of [
    [publicToken, 60, 60_000, 60],
    [personalAccessToken, 750, 10_000, 250],
  ] as const) {
    const { take } = createRateLimiter(limit!);
    for (let n = 0; n < burst; n++) expect(take('a', 0).allowed).toBe(true);
    for (let at = everyMs; at <= 6 * everyMs; at += everyMs)
      for (let n = 0; n < size; n++) expect(take('a', at).allowed).toBe(true);
  }
});

test('a charge counts in full, and no further charge is allowed until the debt is paid off', () => {
  const { take, charge } = createRateLimiter({ burst: 10, perSecond: 1 });
  expect(take('a', 0).allowed).toBe(true);
  expect(charge('a', 499, 0)).toMatchObject({ allowed: true, remaining: 0, resetAt: 491_000 });
  expect(take('a', 0).allowed).toBe(false);
  expect(charge('a', 1, 0).allowed).toBe(false);
  // A rejected request costs no token.
  expect(take('a', 490_000).allowed).toBe(false);
  expect(take('a', 491_000).allowed).toBe(true);
  expect(take('b', 0).allowed).toBe(true);
});

test('keeps a limited number of buckets, and drops the least recently used one', () => {
  const { take } = createRateLimiter({ burst: 1, perSecond: 0.001 }, 3);
  const now = 1_000_000;
  for (const key of ['a', 'b', 'c']) expect(take(key, now).allowed).toBe(true);
  // Any further request, even a rejected one, prevents a key from becoming the oldest.
  expect(take('a', now).allowed).toBe(false);
  expect(take('d', now).allowed).toBe(true);
  expect([take('a', now).allowed, take('c', now).allowed, take('d', now).allowed]).toEqual([
    false,
    false,
    false,
  ]);
  expect(take('b', now).allowed).toBe(true);
});

test('the cost of a new key does not depend on the number of stored keys', () => {
  const reads = (max: number): number => {
    const { take } = createRateLimiter({ burst: 1, perSecond: 0.001 }, max);
    const next = vi.spyOn(Map.prototype, 'delete');
    for (let n = 0; n < 3 * max; n++) take(`key ${n}`, 1_000_000);
    const { length } = next.mock.calls;
    next.mockRestore();
    return length / max;
  };
  expect(reads(1_000)).toBe(2);
  expect(reads(10_000)).toBe(2);
});
