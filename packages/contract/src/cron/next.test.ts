import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CronError, nextRun, nextRuns, parseCron, previousRun } from './index.ts';
import { oracleRuns, readRule, readWalk, type WallClock, wallClock } from './testing/oracle.ts';
import { numRuns } from '../../../../test/support/long.ts';

const runs = (pattern: string, zone: string, after: string, count: number): string[] =>
  nextRuns(parseCron(pattern), zone, new Date(after), count).map((run) =>
    run.toISOString().replace(':00.000Z', 'Z'),
  );

describe('nextRuns', () => {
  test('is strictly after the given time, including its seconds', () => {
    expect(runs('0 * * * *', 'UTC', '2026-01-01T00:00:00Z', 1)).toEqual(['2026-01-01T01:00Z']);
    expect(runs('0 * * * *', 'UTC', '2025-12-31T23:59:59.999Z', 1)).toEqual(['2026-01-01T00:00Z']);
    expect(runs('0 * * * *', 'UTC', '2026-01-01T00:00:00.001Z', 1)).toEqual(['2026-01-01T01:00Z']);
  });

  test('runs a fixed time that is skipped at the first instant after the gap', () => {
    expect(runs('30 2 * * *', 'America/New_York', '2026-03-07T12:00:00Z', 2)).toEqual([
      '2026-03-08T07:00Z',
      '2026-03-09T06:30Z',
    ]);
    expect(runs('0 0 * * *', 'America/Santiago', '2026-09-05T12:00:00Z', 2)).toEqual([
      '2026-09-06T04:00Z',
      '2026-09-07T03:00Z',
    ]);
    expect(runs('0 23 * * *', 'America/Godthab', '2025-03-29T12:00:00Z', 2)).toEqual([
      '2025-03-30T01:00Z',
      '2025-03-31T00:00Z',
    ]);
    expect(runs('30 23 29 3 *', 'America/Godthab', '2025-03-29T12:00:00Z', 1)).toEqual(['2025-03-30T01:00Z']);
  });

  test.each([
    ['Europe/Paris', '2026-03-28T00:00Z'],
    ['America/New_York', '2026-03-07T00:00Z'],
    ['America/Santiago', '2026-09-05T00:00Z'],
    ['Australia/Lord_Howe', '2026-10-03T00:00Z'],
  ])('comes next a millisecond before, at any time of the days around a gap in %s', (zone, from) => {
    for (let minute = 0; minute < 1_440; minute += 15) {
      const cron = parseCron(`${minute % 60} ${Math.floor(minute / 60)} * * *`);
      for (const run of nextRuns(cron, zone, new Date(from), 4)) {
        expect(nextRun(cron, zone, new Date(run.getTime() - 1))).toEqual(run);
      }
    }
  });

  test('merges skipped fixed times with each other and with one that matches where the gap ends', () => {
    expect(runs('0,15,45 2,3 * * *', 'America/New_York', '2026-03-08T06:59:00Z', 3)).toEqual([
      '2026-03-08T07:00Z',
      '2026-03-08T07:15Z',
      '2026-03-08T07:45Z',
    ]);
  });

  test('runs the fixed times of a lost day once, when the next day begins', () => {
    expect(runs('0 9,17 * * *', 'Pacific/Apia', '2011-12-29T20:00:00Z', 4)).toEqual([
      '2011-12-30T03:00Z',
      '2011-12-30T10:00Z',
      '2011-12-30T19:00Z',
      '2011-12-31T03:00Z',
    ]);
    expect(runs('0 9 30 12 *', 'Pacific/Apia', '2011-12-28T00:00:00Z', 1)).toEqual(['2011-12-30T10:00Z']);
    expect(runs('0 * 30 12 *', 'Pacific/Apia', '2011-12-28T00:00:00Z', 1)).toEqual(['2012-12-29T10:00Z']);
  });

  test('runs a fixed time that is repeated at its first occurrence only', () => {
    expect(runs('30 1 * * *', 'America/New_York', '2026-11-01T00:00:00Z', 2)).toEqual([
      '2026-11-01T05:30Z',
      '2026-11-02T06:30Z',
    ]);
    expect(runs('30 1 * * *', 'America/New_York', '2026-11-01T05:30:00Z', 1)).toEqual(['2026-11-02T06:30Z']);
    expect(runs('45 1 * * *', 'Australia/Lord_Howe', '2026-04-04T00:00:00Z', 2)).toEqual([
      '2026-04-04T14:45Z',
      '2026-04-05T15:15Z',
    ]);
  });

  test('runs an interval at every real minute that matches: both copies of a repeated one, none for a gap', () => {
    expect(runs('*/30 * * * *', 'America/New_York', '2026-11-01T04:30:00Z', 5)).toEqual([
      '2026-11-01T05:00Z',
      '2026-11-01T05:30Z',
      '2026-11-01T06:00Z',
      '2026-11-01T06:30Z',
      '2026-11-01T07:00Z',
    ]);
    expect(runs('*/30 2 * * *', 'America/New_York', '2026-03-07T12:00:00Z', 1)).toEqual([
      '2026-03-09T06:00Z',
    ]);
  });

  test('matches either day when both day fields are set', () => {
    expect(runs('0 0 13 * 5', 'UTC', '2026-01-01T00:00:00Z', 4)).toEqual([
      '2026-01-02T00:00Z',
      '2026-01-09T00:00Z',
      '2026-01-13T00:00Z',
      '2026-01-16T00:00Z',
    ]);
  });

  test('finds the last day and the last weekday of months', () => {
    expect(runs('0 0 L * *', 'UTC', '2028-01-31T00:00:00Z', 2)).toEqual([
      '2028-02-29T00:00Z',
      '2028-03-31T00:00Z',
    ]);
    expect(runs('0 0 * * 7L', 'UTC', '2026-01-01T00:00:00Z', 2)).toEqual([
      '2026-01-25T00:00Z',
      '2026-02-22T00:00Z',
    ]);
  });

  test('finds a leap day eight years later, and ends if there are no more runs', () => {
    expect(runs('0 0 29 2 *', 'Asia/Tokyo', '2096-03-01T00:00:00Z', 1)).toEqual(['2104-02-28T15:00Z']);
    expect(runs('0 0 30 2 *', 'Europe/Paris', '2026-01-01T00:00:00Z', 3)).toEqual([]);
    expect(nextRun(parseCron('0 0 30 2 *'), 'UTC', new Date())).toBeNull();
    expect(previousRun(parseCron('0 0 30 2 *'), 'UTC', new Date())).toBeNull();
  });

  test('ends at the last instant that a Date can hold, and begins at the first', () => {
    const [first, last] = [new Date(-8.64e15), new Date(8.64e15)];
    expect(nextRuns(parseCron('0 0 * * *'), 'Asia/Tokyo', new Date(8.64e15 - 86_400_000), 5)).toHaveLength(1);
    expect(nextRun(parseCron('* * * * *'), 'Asia/Tokyo', last)).toBeNull();
    expect(nextRun(parseCron('@hourly'), 'UTC', first)).toEqual(new Date(-8.64e15 + 3_600_000));
    expect(previousRun(parseCron('@hourly'), 'America/New_York', first)).toBeNull();
    expect(previousRun(parseCron('@hourly'), 'UTC', last)).toEqual(new Date(8.64e15 - 3_600_000));
  });

  test('accepts zones in any case and by alias', () => {
    const expected = runs('0 9 * * *', 'America/New_York', '2026-07-01T00:00:00Z', 1);
    expect(runs('0 9 * * *', 'US/Eastern', '2026-07-01T00:00:00Z', 1)).toEqual(expected);
    expect(runs('0 9 * * *', 'america/new_york', '2026-07-01T00:00:00Z', 1)).toEqual(expected);
  });

  test.each(['Mars/Olympus', '', '+02:00', 'x'.repeat(5000)])(
    'rejects the zone %s with a correction',
    (zone) => {
      expect(() => runs('0 9 * * *', zone, '2026-07-01T00:00:00Z', 1)).toThrow(CronError);
      expect(() => runs('0 9 * * *', zone, '2026-07-01T00:00:00Z', 1)).toThrow(
        /^Invalid IANA timezone: '.{0,61}'\. Write a name from the IANA list/,
      );
    },
  );

  test('rejects an invalid date', () => {
    expect(() => nextRun(parseCron('@daily'), 'UTC', new Date('nonsense'))).toThrow(
      'Invalid date: write an ISO date',
    );
  });
});

const field = (min: number, max: number) => {
  const number = fc.integer({ min, max });
  const range = fc.tuple(number, number).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`);
  const step = fc.integer({ min: 1, max: max - min }).map((n) => `*/${n}`);
  return fc.oneof(
    fc.constant('*'),
    fc
      .array(fc.oneof(number.map(String), range, step), { minLength: 1, maxLength: 3 })
      .map((items) => items.join()),
  );
};

describe('cron by property', () => {
  const pattern = fc
    .tuple(field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 6))
    .map((fields) => fields.join(' '));
  const zone = fc.constantFrom(
    'UTC',
    'Europe/Paris',
    'America/Santiago',
    'America/Nuuk',
    'Australia/Lord_Howe',
    'Africa/Casablanca',
    'Asia/Kolkata',
  );
  const opened = new Map<string, WallClock>();
  const clocks = (name: string): WallClock => {
    const clock = opened.get(name) ?? wallClock(name);
    opened.set(name, clock);
    return clock;
  };
  const instant = fc.date({ min: new Date('2010-01-01'), max: new Date('2037-01-01'), noInvalidDate: true });

  test('always advances, and the previous run of the next run is the original', () => {
    fc.assert(
      fc.property(pattern, zone, instant, (text, tz, after) => {
        const cron = parseCron(text);
        const found = nextRuns(cron, tz, after, 5);
        expect(found).toHaveLength(5);
        for (const [i, run] of found.entries()) {
          const before = found[i - 1] ?? after;
          expect(run.getTime()).toBeGreaterThan(before.getTime());
          expect(nextRun(cron, tz, new Date(run.getTime() - 1))).toEqual(run);
        }
        for (const [i, run] of found.slice(1).entries()) {
          expect(previousRun(cron, tz, run)).toEqual(found[i]);
        }
      }),
      { numRuns: numRuns(500) },
    );
  });

  test('matches its fields on the wall clock, unless it replaces skipped times', () => {
    fc.assert(
      fc.property(pattern, zone, instant, (text, tz, after) => {
        const { times, onDate } = readRule(text);
        const clock = clocks(tz);
        for (const run of nextRuns(parseCron(text), tz, after, 5)) {
          const minute = run.getTime() / 60_000;
          const wall = clock(minute);
          const matches = times[wall % 1440] === 1 && onDate(Math.floor(wall / 1440));
          expect(Number.isInteger(minute) && (matches || wall > clock(minute - 1) + 1)).toBe(true);
        }
      }),
      { numRuns: numRuns(300) },
    );
  });

  test('matches a minute-by-minute search from any start', () => {
    fc.assert(
      fc.property(pattern, zone, instant, (text, tz, after) => {
        const from = Math.floor(after.getTime() / 60_000);
        const walk = readWalk(clocks(tz), from - 2880, from + 7200, 60);
        const expected = oracleRuns(readRule(text), walk).filter((minute) => minute > from);
        const found = nextRuns(parseCron(text), tz, new Date(from * 60_000), expected.length);
        expect(found.map((run) => run.getTime() / 60_000)).toEqual(expected);
      }),
      { numRuns: numRuns(150) },
    );
  });
});
