import fc from 'fast-check';
import { expect, test } from 'vitest';
import { iso } from './iso.ts';

test('matches the ISO string of a Date, in whole milliseconds', () => {
  const time = fc.oneof(
    fc.date({ noInvalidDate: true }).map(Number),
    fc.double({ min: 0, max: 4e12, noNaN: true }),
  );
  fc.assert(
    fc.property(time, (ms) => {
      expect(iso(ms)).toBe(new Date(Math.floor(ms)).toISOString());
    }),
  );
});
