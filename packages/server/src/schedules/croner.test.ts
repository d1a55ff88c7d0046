import { nextRuns, parseCron } from '@millrace/contract/cron';
import { Cron as Croner } from 'croner';
import fc from 'fast-check';
import { expect, test } from 'vitest';

/*
 * croner follows the same rules with `no-wildcard`, but for one thing: it loses the fixed run of a gap that ends on the
 * next date. No zone here has had such a gap since 2010.
 */
const ZONES = [
  'UTC',
  'America/New_York',
  'Europe/Paris',
  'Australia/Lord_Howe',
  'Australia/Sydney',
  'Africa/Casablanca',
  'Asia/Kolkata',
  'Antarctica/Troll',
];

const field = (min: number, max: number) => {
  const number = fc.integer({ min, max });
  const range = fc.tuple(number, number).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`);
  const step = fc.integer({ min: 1, max: max - min }).map((n) => `*/${n}`);
  const list = fc.array(fc.oneof(number.map(String), range, step), { minLength: 1, maxLength: 3 });
  return fc.oneof(
    fc.constant('*'),
    list.map((items) => items.join()),
  );
};
const date = fc.oneof({ weight: 5, arbitrary: field(1, 28) }, fc.constant('L'));
const weekday = fc.oneof({ weight: 5, arbitrary: field(0, 7) }, fc.constantFrom('1L', '5L', '7L'));
const pattern = fc
  .tuple(field(0, 59), field(0, 23), date, field(1, 12), weekday)
  .map((fields) => fields.join(' '));
const instant = fc.date({ min: new Date('2010-01-01'), max: new Date('2037-01-01'), noInvalidDate: true });
/** Most instants are far from any clock change; these begin close to many of them. */
const nearChange = fc
  .tuple(
    fc.integer({ min: 2010, max: 2036 }),
    fc.constantFrom(2, 3, 9, 10),
    fc.integer({ min: 0, max: 31 * 24 * 60 }),
  )
  .map(([year, month, minutes]) => new Date(Date.UTC(year, month, 1, 0, minutes)));

test('agrees with croner on the next five runs of any pattern', () => {
  fc.assert(
    fc.property(
      pattern,
      fc.constantFrom(...ZONES),
      fc.oneof(instant, nearChange),
      (text, timezone, after) => {
        const theirs = new Croner(text, {
          timezone,
          fixedTimeRule: 'no-wildcard',
          mode: '5-part',
          paused: true,
        }).nextRuns(5, after);
        expect(nextRuns(parseCron(text), timezone, after, 5)).toEqual(theirs);
      },
    ),
    { numRuns: 2000 },
  );
});
