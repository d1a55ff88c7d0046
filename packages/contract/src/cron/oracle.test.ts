import { describe, expect, test } from 'vitest';
import { isLong } from '../../../../test/support/long.ts';
import { nextRuns, parseCron, previousRun } from './index.ts';
import {
  findChanges,
  MINUTE,
  oracleRuns,
  readRule,
  readWalk,
  type Walk,
  wallClock,
} from './testing/oracle.ts';
import { PATTERNS } from './testing/patterns.ts';
import { findZone, type Segment } from './zone.ts';

/** `CRON_ORACLE=full` checks every minute of 2020-2035 in every zone (several minutes) instead of those around clock changes. */
const full = process.env['CRON_ORACLE'] === 'full';
const minuteOf = (iso: string): number => Date.parse(iso) / MINUTE;
const FROM = minuteOf('2020-01-01T00:00:00Z');
const TO = minuteOf('2036-01-01T00:00:00Z');
const HOUR = 60;
/** These two run every hour and on each side of every change, which is enough to distinguish two clocks. */
const CLOCK_READERS = new Set(['0 * * * *', '0,30 1,2,3 * * *']);
const zones = [...new Set(['UTC', ...Intl.supportedValuesOf('timeZone')])];
const cases = PATTERNS.map((pattern) => ({ pattern, cron: parseCron(pattern), rule: readRule(pattern) }));

/** All disagreements between the oracle and the implementation during a walk, whose first two days serve only as the past. */
function disagreements(zone: string, walk: Walk, only = cases): string[] {
  const wrong: string[] = [];
  const judgedFrom = walk.from + 48 * HOUR;
  const to = walk.from + walk.walls.length;
  for (const { pattern, cron, rule } of only) {
    const expected = oracleRuns(rule, walk).filter((minute) => minute >= judgedFrom);
    const found = nextRuns(cron, zone, new Date(judgedFrom * MINUTE - 1), expected.length + 1);
    const beyond = found.length > expected.length ? found.pop() : undefined;
    const at = expected.findIndex((minute, i) => found[i]?.getTime() !== minute * MINUTE);
    if (at >= 0 || (beyond !== undefined && beyond.getTime() < to * MINUTE)) {
      wrong.push(
        `${zone} ${pattern}: expected ${iso(expected[at])}, got ${found[at]?.toISOString() ?? beyond?.toISOString()}`,
      );
      continue;
    }
    // Also backwards; dense lists are sampled by a stride that eventually meets every minute of the hour.
    for (let i = expected.length - 1; i > 0; i -= expected.length < 150 ? 1 : full ? 97 : 7) {
      const previous = previousRun(cron, zone, new Date((expected[i] ?? 0) * MINUTE));
      if (previous?.getTime() !== (expected[i - 1] ?? 0) * MINUTE) {
        wrong.push(
          `${zone} ${pattern}: before ${iso(expected[i])} expected ${iso(expected[i - 1])}, got ${previous?.toISOString()}`,
        );
        break;
      }
    }
  }
  return wrong;
}

const iso = (minute: number | undefined): string =>
  minute === undefined ? 'none' : new Date(minute * MINUTE).toISOString();

describe('cron compared with a minute-by-minute oracle', () => {
  test('has at least forty patterns and every zone', () => {
    expect(PATTERNS.length).toBeGreaterThanOrEqual(40);
    expect(zones.length).toBeGreaterThan(400);
  });

  // Equal windows are walked once, in the alphabetically first of their zones.
  const windows = new Map<string, { zone: string; from: number; to: number }>();

  test.skipIf(full)(
    'sees the same clock changes as the wall clocks of all zones, 2020-2035',
    { timeout: 120_000 },
    () => {
      const wrong: string[] = [];
      for (const zone of zones) {
        const clock = wallClock(zone);
        const changes = findChanges(clock, FROM, TO, 6 * 1440);
        const expected = changes.map((change) => `${iso(change.minute)} ${change.moved}`);
        const segments: Segment[] = [];
        for (let at = FROM * MINUTE; at < TO * MINUTE; at = findZone(zone).segmentAt(at).end) {
          segments.push(findZone(zone).segmentAt(at));
        }
        const found = segments.flatMap((segment, i) => {
          const moved = (segment.offset - (segments[i - 1]?.offset ?? segment.offset)) / MINUTE;
          return moved === 0 ? [] : [`${iso(segment.start / MINUTE)} ${moved}`];
        });
        if (found.join() !== expected.join())
          wrong.push(`${zone}: ${found.join()} is not ${expected.join()}`);
        for (const change of changes) {
          const from = change.minute - 78 * HOUR;
          const to = change.minute + 30 * HOUR;
          const near = changes.filter(
            (other) => other.minute > from - 48 * HOUR && other.minute < to + 48 * HOUR,
          );
          windows.set(
            `${clock(from) - from} ${near.map((other) => `${other.minute}:${other.moved}`).join()}`,
            { zone, from, to },
          );
        }
      }
      expect(wrong).toEqual([]);
    },
  );

  test.skipIf(full)('agrees around every clock change of every zone, 2020-2035', { timeout: 120_000 }, () => {
    expect(windows.size).toBeGreaterThan(500);
    const wrong: string[] = [];
    // A third of them, unless it is a full run.
    const tried = [...windows.values()].filter((_, index) => isLong || index % 3 === 0);
    for (const { zone, from, to } of tried) {
      wrong.push(...disagreements(zone, readWalk(wallClock(zone), from, to, 1440)));
    }
    expect(wrong).toEqual([]);
  });

  test.runIf(full)('agrees in every minute of every zone, 2020-2035', { timeout: 7_200_000 }, () => {
    const wrong: string[] = [];
    const walked = new Set<string>();
    for (const zone of zones) {
      for (let year = 2020; year < 2036; year++) {
        const from = Date.UTC(year, 0, 1) / MINUTE - 48 * HOUR;
        const walk = readWalk(wallClock(zone), from, Date.UTC(year + 1, 0, 1) / MINUTE, 15);
        let likeness = `${from} ${walk.walls[0]}`;
        walk.walls.forEach((wall, i) => {
          if (i > 0 && wall !== (walk.walls[i - 1] ?? 0) + 1) likeness += ` ${i}:${wall}`;
        });
        // If the wall clocks of two zones agree all year, the second is only checked to have the same clock.
        const only = walked.has(likeness) ? cases.filter(({ pattern }) => CLOCK_READERS.has(pattern)) : cases;
        walked.add(likeness);
        wrong.push(...disagreements(zone, walk, only));
      }
    }
    console.log(
      `${zones.length} zones, ${walked.size} different years, ${PATTERNS.length} patterns, ${wrong.length} mismatches`,
    );
    expect(wrong).toEqual([]);
  });

  test.each([
    ['America/Santiago', '2026-09-06'],
    ['America/New_York', '2026-11-01'],
    ['America/Godthab', '2025-03-30'],
    ['America/Nuuk', '2024-03-31'],
    ['Australia/Lord_Howe', '2026-10-04'],
    ['Australia/Lord_Howe', '2026-04-05'],
    ['Antarctica/Troll', '2026-03-29'],
    ['Pacific/Apia', '2011-12-30'],
    ['Pacific/Fakaofo', '2011-12-30'],
    ['Pacific/Kwajalein', '1993-08-21'],
    ['Asia/Pyongyang', '2018-05-04'],
    ['America/Caracas', '2007-12-09'],
    ['Africa/Cairo', '2010-08-11'],
    ['America/Sao_Paulo', '2018-11-04'],
    ['Asia/Kathmandu', '1985-12-31'],
  ])('agrees in %s around %s', (zone, date) => {
    const at = minuteOf(`${date}T00:00:00Z`);
    const walk = readWalk(wallClock(zone), at - 96 * HOUR, at + 96 * HOUR, 60);
    expect(findChanges(wallClock(zone), at - 48 * HOUR, at + 48 * HOUR, 60)).toHaveLength(1);
    expect(disagreements(zone, walk)).toEqual([]);
  });
});
