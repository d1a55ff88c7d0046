import { expect, test } from 'vitest';
import { newTimedId } from './ids.ts';

test('ids created in the same millisecond sort in creation order, before those of the next', () => {
  const now = Date.now();
  const ids = Array.from({ length: 20_000 }, (_, n) => newTimedId('run', now + Math.floor(n / 10_000)));
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.every((id) => /^run_[0-9a-z]{24}$/.test(id))).toBe(true);
});
