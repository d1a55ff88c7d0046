/**
 * Ranges of time in which occurrences are counted, both ends included, to the millisecond. Tallies are kept whole for a
 * while; of those before, only the last of each hour, and of those long before, the last of each day. A range that begins or ends back
 * there counts the hours or days that it touches whole.
 */
export interface Range {
  readonly from: Date | null;
  readonly to: Date | null;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** From which age on occurrences are counted by the hour only, and by the day. Milliseconds. */
export interface Ages {
  readonly hours: number;
  readonly days: number;
}

export const defaultAges: Ages = { hours: 30 * dayMs, days: 90 * dayMs };

const floor = (ms: number, width: number): number => Math.floor(ms / width) * width;

/** Before this moment occurrences are, or are about to be, counted by the hour. */
export const byHourUntil = (now: Date, { hours }: Ages = defaultAges): Date =>
  new Date(floor(now.getTime() - hours, hourMs));

/** The same by the day, of UTC. */
export const byDayUntil = (now: Date, { days }: Ages = defaultAges): Date =>
  new Date(floor(now.getTime() - days, dayMs));

export interface AskedRange {
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
  /** Milliseconds up to now; wins over the other two. */
  readonly period?: number | undefined;
}

export function readRange({ from, to, period }: AskedRange, now: Date, ages = defaultAges): Range {
  const start = period === undefined ? from?.getTime() : now.getTime() - period;
  const end = period === undefined ? to?.getTime() : undefined;
  return {
    from: start === undefined ? null : storableDate(floor(start, widthAt(start, now, ages))),
    to: end === undefined ? null : endOfRange(storableDate(end), now, ages),
  };
}

/** The last moment that a count up to `end` includes. */
export function endOfRange(end: Date, now: Date, ages = defaultAges): Date {
  const width = widthAt(end.getTime(), now, ages);
  return new Date(floor(end.getTime(), width) + width - 1);
}

/** Milliseconds that are counted as one. */
function widthAt(at: number, now: Date, ages: Ages): number {
  if (at < byDayUntil(now, ages).getTime()) return dayMs;
  return at < byHourUntil(now, ages).getTime() ? hourMs : 1;
}

const earliest = Date.UTC(1970, 0, 1);
const latest = Date.UTC(9999, 11, 31);

/** A date may be asked for that PostgreSQL cannot hold; nothing occurred there. */
const storableDate = (ms: number): Date => new Date(Math.min(latest, Math.max(earliest, ms)));
