import { CronError } from './cron-error.ts';
import type { Cron } from './parse.ts';
import { nextWall, previousWall } from './wall-clock.ts';
import { findZone, type Zone } from './zone.ts';

const MINUTE = 60_000;
const LAST_INSTANT = 8.64e15;
/** 29 February can be eight years away (2096 to 2104); a date that does not occur within nine years never occurs. */
const HORIZON_YEARS = 9;
/** Wall clocks are at most this far from UTC. */
const FARTHEST_OFFSET = 2 * 86_400_000;

/**
 * The first run of `cron` strictly after `after`, on the wall clock of `timezone`; null if there is none within nine years.
 *
 * Clock changes: a fixed time (see {@link Cron.fixed}) that is skipped runs at the first instant after the gap, several of them once, and one
 * that is repeated runs at its first occurrence only. An interval runs at every real minute that matches: both copies of a repeated one, none
 * for a gap.
 *
 * @throws {CronError} for a zone the runtime does not know, or an invalid `after`.
 * @example
 * nextRun(parseCron('0 9 * * *'), 'Europe/Paris', new Date('2026-01-15T12:00:00Z')); // 2026-01-16T08:00:00.000Z
 */
export function nextRun(cron: Cron, timezone: string, after: Date): Date | null {
  const found = nextInstant(cron, findZone(timezone), instantOf(after));
  return found === null ? null : new Date(found);
}

/**
 * The first `count` runs strictly after `after`, ascending; fewer if none follows within nine years of the last.
 *
 * @throws {CronError} as {@link nextRun}.
 * @example
 * nextRuns(parseCron('@monthly'), 'UTC', new Date('2026-01-15T00:00:00Z'), 2); // 1 February, 1 March
 */
export function nextRuns(cron: Cron, timezone: string, after: Date, count: number): Date[] {
  const zone = findZone(timezone);
  const runs: Date[] = [];
  let last: number | null = instantOf(after);
  while (runs.length < count) {
    last = nextInstant(cron, zone, last);
    if (last === null) break;
    runs.push(new Date(last));
  }
  return runs;
}

/**
 * The last run of `cron` strictly before `before`: {@link nextRun} backwards, by the same rules at clock changes; null if there was none within
 * nine years.
 *
 * @throws {CronError} as {@link nextRun}.
 * @example
 * previousRun(parseCron('0 9 * * *'), 'Europe/Paris', new Date('2026-01-15T12:00:00Z')); // 2026-01-15T08:00:00.000Z
 */
export function previousRun(cron: Cron, timezone: string, before: Date): Date | null {
  const found = previousInstant(cron, findZone(timezone), instantOf(before));
  return found === null ? null : new Date(found);
}

function nextInstant(cron: Cron, zone: Zone, after: number): number | null {
  const limit = Math.min(shiftYears(after, HORIZON_YEARS), LAST_INSTANT);
  if (cron.never || after >= limit) return null;
  let from = after + 1;
  // The segment of `after` itself: a time that the clock skips immediately after it runs at the next instant.
  let segment = zone.segmentAt(after);
  let searched = Infinity;
  let wall = -Infinity;
  for (;;) {
    const lowest = cron.fixed ? Math.max(from + segment.offset, segment.fresh) : from + segment.offset;
    // The result from an earlier wall time stays valid unless this segment began before or after it.
    if (lowest < searched || lowest > wall) {
      wall = nextWall(cron, Math.ceil(lowest / MINUTE) * MINUTE, limit + FARTHEST_OFFSET);
      searched = lowest;
    }
    if (wall < segment.end + segment.offset)
      return wall - segment.offset <= limit ? wall - segment.offset : null;
    if (segment.end > limit) return null;
    from = segment.end;
    const following = zone.segmentAt(from);
    // Skipped by the clock, which at this point jumps from before the match to after it.
    if (cron.fixed && wall < from + following.offset) return from;
    segment = following;
  }
}

function previousInstant(cron: Cron, zone: Zone, before: number): number | null {
  const limit = Math.max(shiftYears(before, -HORIZON_YEARS), -LAST_INSTANT);
  if (cron.never || before <= limit) return null;
  let until = before;
  let searched = -Infinity;
  let wall = Infinity;
  for (;;) {
    const segment = zone.segmentAt(until - 1);
    const highest = until - 1 + segment.offset;
    const lowest = segment.start + segment.offset;
    if (highest > searched || highest < wall) {
      wall = previousWall(cron, highest, limit - FARTHEST_OFFSET);
      searched = highest;
    }
    if (wall >= (cron.fixed ? Math.max(lowest, segment.fresh) : lowest)) {
      return wall - segment.offset >= limit ? wall - segment.offset : null;
    }
    if (segment.start <= limit) return null;
    if (cron.fixed) {
      const earlier = zone.segmentAt(segment.start - 1);
      const gap = Math.max(earlier.end + earlier.offset, earlier.fresh);
      if (wall >= gap && wall < lowest) return segment.start;
    }
    until = segment.start;
  }
}

function instantOf(date: Date): number {
  const instant = date.getTime();
  if (Number.isNaN(instant))
    throw new CronError('Invalid date: write an ISO date such as 2026-01-15T12:00:00Z.');
  return instant;
}

function shiftYears(instant: number, years: number): number {
  const date = new Date(instant);
  const shifted = date.setUTCFullYear(date.getUTCFullYear() + years);
  return Number.isNaN(shifted) ? Math.sign(years) * LAST_INSTANT : shifted;
}
