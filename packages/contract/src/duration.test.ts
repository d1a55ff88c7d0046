import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { durationText, parseDelay, parseDuration, parseInstant } from './duration.ts';

const refused = { error: expect.any(String) as string };

describe('parseDuration', () => {
  test.each([
    ['90s', 90_000],
    ['1h30m', 5_400_000],
    ['1hr', 3_600_000],
    ['2d', 172_800_000],
    ['1w', 604_800_000],
    ['0s', 0],
    ['5m1h', 3_900_000],
  ])('reads %s', (text, ms) => expect(parseDuration(text)).toBe(ms));

  test.each([
    '',
    '10',
    's',
    '1.5h',
    '-1h',
    '1h 30m',
    '1y',
    '1H',
    '1h1hr',
    '1m1m',
    `${'9'.repeat(15)}w`,
    '1s'.repeat(51),
  ])('rejects %j with a correction', (text) => expect(parseDuration(text)).toEqual(refused));

  test('never throws, and returns whole milliseconds within the range of dates', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^(\d{1,16}(w|d|h|hr|m|s)){1,4}$/)), (text) => {
        const read = parseDuration(text);
        if (typeof read === 'number') expect(new Date(read).getTime()).toBe(read);
        else expect(read).toEqual(refused);
      }),
    );
  });
});

describe('durationText', () => {
  test.each([
    [0, '0s'],
    [5, '5s'],
    [60, '1m'],
    [600, '10m'],
    [5_400, '1h30m'],
    [86_399, '23h59m59s'],
    [604_800, '7d'],
    [2_147_483_647, '24855d3h14m7s'],
  ])('writes %i seconds', (seconds, text) => expect(durationText(seconds)).toBe(text));

  test('writes durations that parseDuration can read', () => {
    fc.assert(
      fc.property(fc.nat(), (seconds) => {
        expect(parseDuration(durationText(seconds))).toBe(seconds * 1_000);
      }),
    );
  });
});

describe('parseInstant', () => {
  test.each([
    ['2026-11-21', '2026-11-21T00:00:00.000Z'],
    ['2026-11-21T10:00', '2026-11-21T10:00:00.000Z'],
    ['2026-11-21 10:00:07', '2026-11-21T10:00:07.000Z'],
    ['2026-11-21T10:00:00.5', '2026-11-21T10:00:00.500Z'],
    ['2026-11-21T10:00:00.123456789Z', '2026-11-21T10:00:00.123Z'],
    ['2026-11-21T10:00:00+02:00', '2026-11-21T08:00:00.000Z'],
    ['2026-11-21T10:00:00-0530', '2026-11-21T15:30:00.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
  ])('reads %s, in UTC unless it has an offset', (text, iso) => {
    expect(parseInstant(text)?.toISOString()).toBe(iso);
  });

  test.each([
    '2026-02-30',
    '2026-02-29',
    '2026-13-01',
    '2026-00-10',
    '2026-11-31T10:00:00+02:00',
    '2026-11-21T24:00:00Z',
    '2026-11-21T10:60',
    '2026-11-21T10:00:00+25:00',
    '2026-11-21T10',
    '2026-11-21X',
    '10',
    'may 1',
    '',
  ])('rejects %j, which is not an existing day or time', (text) => {
    expect(parseInstant(text)).toBeUndefined();
  });

  test('reads every date in the form of toISOString', () => {
    const year = { min: new Date('0000-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59Z') };
    fc.assert(
      fc.property(fc.date({ ...year, noInvalidDate: true }), (date) => {
        expect(parseInstant(date.toISOString())).toEqual(date);
      }),
    );
  });
});

describe('parseDelay', () => {
  const now = new Date('2026-11-21T00:00:00Z');

  test('accepts a duration from now, a date text or a Date', () => {
    expect(parseDelay('1h', now)).toEqual(new Date('2026-11-21T01:00:00Z'));
    expect(parseDelay('2026-12-01T10:00', now)).toEqual(new Date('2026-12-01T10:00:00Z'));
    expect(parseDelay(new Date(5), now)).toEqual(new Date(5));
  });

  test.each(['2026-02-30', '10', 'tomorrow', '', 'x'.repeat(101), `${'9'.repeat(10)}w`])(
    'rejects %j',
    (text) => {
      expect(parseDelay(text, now)).toEqual(refused);
    },
  );

  test('rejects an invalid Date', () => {
    expect(parseDelay(new Date(Number.NaN), now)).toEqual(refused);
  });
});
