import { expect, test } from 'vitest';
import { zonedInstant, zonedText } from './zoned.ts';

const iso = (text: string, zone: string) => {
  const at = zonedInstant(text, zone);
  return at === undefined ? undefined : new Date(at).toISOString();
};

test.each([
  ['2026-11-23T09:00', 'Europe/Paris', '2026-11-23T08:00:00.000Z'],
  ['2026-07-01T09:00', 'America/New_York', '2026-07-01T13:00:00.000Z'],
  ['2026-07-01T09:30', 'Asia/Kolkata', '2026-07-01T04:00:00.000Z'],
  ['2026-07-01T09:00', 'UTC', '2026-07-01T09:00:00.000Z'],
  // The clocks go from 02:00 to 03:00.
  ['2026-03-29T02:30', 'Europe/Paris', '2026-03-29T01:30:00.000Z'],
  // They go back from 03:00 to 02:00: the first of the two.
  ['2026-10-25T02:30', 'Europe/Paris', '2026-10-25T00:30:00.000Z'],
])('%s in %s is %s', (text, zone, expected) => {
  expect(iso(text, zone)).toBe(expected);
});

test('an invalid time has no instant', () => {
  expect(zonedInstant('', 'UTC')).toBeUndefined();
});

test('an instant is written in the local time of the zone', () => {
  expect(zonedText(Date.UTC(2026, 10, 23, 23, 59, 59), 'Asia/Tokyo')).toBe('2026-11-24T08:59');
});
