/**
 * A time range for counting occurrences, both ends included, to the millisecond. Old tallies are compacted to the last of each hour, very
 * old ones to the last of each day. A range that begins or ends within such data includes every hour or day that it touches.
 */
export interface Range {
  readonly from: Date | null;
  readonly to: Date | null;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** The ages in milliseconds after which occurrences are counted only per hour, and only per day. */
export interface Ages {
  readonly hours: number;
  readonly days: number;
}

export const defaultAges: Ages = { hours: 30 * dayMs, days: 90 * dayMs };

const floor = (ms: number, width: number): number => Math.floor(ms / width) * width;

/** Occurrences before this time are, or will soon be, counted by the hour. */
export const byHourUntil = (now: Date, { hours }: Ages = defaultAges): Date =>
  new Date(floor(now.getTime() - hours, hourMs));

/** Occurrences before this time are, or will soon be, counted by the UTC day. */
export const byDayUntil = (now: Date, { days }: Ages = defaultAges): Date =>
  new Date(floor(now.getTime() - days, dayMs));

export interface RequestedRange {
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
  /** Milliseconds up to now; takes precedence over the other two. */
  readonly period?: number | undefined;
}

export function readRange({ from, to, period }: RequestedRange, now: Date, ages = defaultAges): Range {
  const start = period === undefined ? from?.getTime() : now.getTime() - period;
  const end = period === undefined ? to?.getTime() : undefined;
  return {
    from: start === undefined ? null : storableDate(floor(start, widthAt(start, now, ages))),
    to: end === undefined ? null : endOfRange(storableDate(end), now, ages),
  };
}

/** The last time that a count up to `end` includes. */
export function endOfRange(end: Date, now: Date, ages = defaultAges): Date {
  const width = widthAt(end.getTime(), now, ages);
  return new Date(floor(end.getTime(), width) + width - 1);
}

/** The resolution of counts, in milliseconds. */
function widthAt(at: number, now: Date, ages: Ages): number {
  if (at < byDayUntil(now, ages).getTime()) return dayMs;
  return at < byHourUntil(now, ages).getTime() ? hourMs : 1;
}

const earliest = Date.UTC(1970, 0, 1);
const latest = Date.UTC(9999, 11, 31);

/** A request may contain a date that PostgreSQL cannot store. There are no occurrences at such a time. */
const storableDate = (ms: number): Date => new Date(Math.min(latest, Math.max(earliest, ms)));
