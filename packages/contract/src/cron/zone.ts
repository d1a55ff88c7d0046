import { CronError, quote } from './cron-error.ts';

/** A period in which a zone has one offset from UTC. All times in milliseconds. */
export interface Segment {
  /** First instant. */
  readonly start: number;
  /** First instant after. */
  readonly end: number;
  /** Wall time minus real time. */
  readonly offset: number;
  /** First wall time of this period that did not occur (and was not skipped) before: later than its start if the clock went back. */
  readonly fresh: number;
}

/** The offsets of one IANA zone, read lazily from `Intl` in blocks of time. */
export interface Zone {
  readonly name: string;
  segmentAt(instant: number): Segment;
}

const DAY = 86_400_000;
const LAST_INSTANT = 8.64e15;
const BLOCK = 400 * DAY;
/** Two changes within one step could hide each other. Since 1900, no two changes of a zone are less than about a week apart. */
const STEP = 5 * DAY;
/** How far before a block to search for a clock that was set back into it. No zone ever moved by more than a day. */
const LEAD = 3 * DAY;
/** Cached blocks of a zone: 64 of them span 70 years. Bounded, so that unusual dates cannot fill the memory. */
const CACHED_BLOCKS = 64;

const zones = new Map<string, Zone>();

/**
 * Finds a time zone by its IANA name, case-insensitively; supports aliases such as `US/Eastern` if the runtime's `Intl` does.
 *
 * @throws {CronError} when the runtime does not know the name.
 * @example
 * findZone('europe/paris').name; // 'Europe/Paris'
 */
export function findZone(name: string): Zone {
  // Stored in lower case, so that there are no more keys than zones.
  const key = name.toLowerCase();
  const known = zones.get(key);
  if (known !== undefined) return known;
  let format: Intl.DateTimeFormat;
  try {
    // Some runtimes accept offsets such as +02:00 as zones and others do not, so they are always rejected.
    if (/^[+-]/.test(name)) throw new RangeError('an offset');
    format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
  } catch {
    throw new CronError(
      `Invalid IANA timezone: ${quote(name)}. Write a name from the IANA list, such as 'UTC', 'Europe/Paris' or 'America/New_York'.`,
    );
  }
  const zone = openZone(format);
  zones.set(key, zone);
  return zone;
}

/** A fast path, because most schedules are in UTC, which has no clock changes. */
const UTC: Segment = { start: -Infinity, end: Infinity, offset: 0, fresh: -Infinity };

function openZone(format: Intl.DateTimeFormat): Zone {
  const name = format.resolvedOptions().timeZone;
  if (name === 'UTC') return { name, segmentAt: () => UTC };
  const blocks = new Map<number, readonly Segment[]>();
  return {
    name,
    segmentAt(instant) {
      const number = Math.floor(instant / BLOCK);
      let block = blocks.get(number);
      if (block === undefined) {
        if (blocks.size >= CACHED_BLOCKS) blocks.clear();
        block = readBlock(
          format,
          Math.max(number * BLOCK, -LAST_INSTANT),
          Math.min((number + 1) * BLOCK, LAST_INSTANT + 1000),
        );
        blocks.set(number, block);
      }
      for (const segment of block) if (instant < segment.end) return segment;
      throw new RangeError(`${instant} is outside the range of a Date`);
    },
  };
}

function readBlock(format: Intl.DateTimeFormat, from: number, to: number): readonly Segment[] {
  const segments: Segment[] = [];
  let start = Math.max(from - LEAD, -LAST_INSTANT);
  let offset = offsetAt(format, start);
  let highest = -Infinity;
  const close = (end: number): void => {
    const fresh = Math.max(highest, start + offset);
    highest = Math.max(fresh, end + offset);
    if (end > from && end > start) segments.push({ start: Math.max(start, from), end, offset, fresh });
  };
  for (let low = start; low < to; low += STEP) {
    const high = Math.min(low + STEP, to);
    const after = offsetAt(format, high);
    while (offset !== after) {
      const change = firstChange(format, Math.max(low, start), high, offset);
      close(change);
      start = change;
      offset = offsetAt(format, change);
    }
  }
  close(to);
  return segments;
}

/** The first whole second in (low, high] that does not have `offset`, given that `low` has and `high` has not. */
function firstChange(format: Intl.DateTimeFormat, low: number, high: number, offset: number): number {
  while (high - low > 1000) {
    const middle = low + Math.floor((high - low) / 2000) * 1000;
    if (offsetAt(format, middle) === offset) low = middle;
    else high = middle;
  }
  return high;
}

function offsetAt(format: Intl.DateTimeFormat, instant: number): number {
  const parts = /GMT(?:([+-])(\d+):(\d+)(?::(\d+))?)?$/.exec(format.format(Math.min(instant, LAST_INSTANT)));
  if (parts === null) throw new Error('this runtime does not write zone offsets as GMT+hh:mm');
  const [, sign, hours = '0', minutes = '0', seconds = '0'] = parts;
  const size = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
  return sign === '-' ? -size : size;
}
