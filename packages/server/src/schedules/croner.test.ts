import { nextRuns, parseCron } from '@millrace/contract/cron';
import { Cron as Croner } from 'croner';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { numRuns } from '../../../../test/support/long.ts';

/*
 * croner follows the same rules with `no-wildcard`, with one exception: it loses the fixed run of a gap that ends on the next date
 * (docs/decisions/0015-own-cron-matcher.md). No zone here has had such a gap since 2010.
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

const croner = (text: string, timezone: string, after: Date, count: number): Date[] =>
  new Croner(text, { timezone, fixedTimeRule: 'no-wildcard', mode: '5-part', paused: true }).nextRuns(
    count,
    after,
  );

test('agrees with croner on the next five runs of any pattern', () => {
  fc.assert(
    fc.property(
      pattern,
      fc.constantFrom(...ZONES),
      fc.oneof(instant, nearChange),
      (text, timezone, after) => {
        expect(nextRuns(parseCron(text), timezone, after, 5)).toEqual(croner(text, timezone, after, 5));
      },
    ),
    { numRuns: numRuns(2000) },
  );
});

test.each([
  ['America/Nuuk', '30 23 * * *', '2024-03-30T12:00:00Z', '2024-03-31T01:00:00.000Z'],
  ['America/Nuuk', '30 23 30 3 *', '2024-03-29T12:00:00Z', '2024-03-31T01:00:00.000Z'],
  ['Pacific/Apia', '0 9 30 12 *', '2011-12-28T12:00:00Z', '2011-12-30T10:00:00.000Z'],
])(
  'fires in %s for "%s" although the clock skips it, which croner does not',
  (timezone, text, from, next) => {
    const after = new Date(from);
    expect(nextRuns(parseCron(text), timezone, after, 1)[0]?.toISOString()).toBe(next);
    // If this fails, croner may have become accurate enough to replace Millrace's own matcher.
    expect(croner(text, timezone, after, 1)[0]?.toISOString()).not.toBe(next);
  },
);
