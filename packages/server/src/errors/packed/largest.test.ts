import fc from 'fast-check';
import { expect, test } from 'vitest';
import { largest } from './largest.ts';

test('the n-th largest is the one that sorting would put there', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: -4, max: 9 }), { minLength: 1, maxLength: 50 }),
      fc.nat(),
      (list, nth) => {
        const n = 1 + (nth % list.length);
        expect(largest(Float64Array.from(list), n)).toBe(list.toSorted((a, b) => b - a)[n - 1]);
      },
    ),
  );
});
