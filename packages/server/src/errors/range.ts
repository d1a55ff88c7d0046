/**
 * Ranges of time in which occurrences are counted, both ends included, to the millisecond. Tallies are kept whole for a
 * while; of those before, only the last of each hour. A range that begins or ends back there counts the hours that it touches
 * whole.
 */
export interface Range {
  readonly from: Date | null;
  readonly to: Date | null;
}

/** How long every tally is kept: 30 days. */
export const tallyRetentionMs = 30 * 86_400_000;

const hourMs = 3_600_000;
const floorHour = (ms: number): number => Math.floor(ms / hourMs) * hourMs;

/** Before this moment occurrences are, or are about to be, counted by the hour. */
export const retainedSince = (now: Date, retentionMs = tallyRetentionMs): Date =>
  new Date(floorHour(now.getTime() - retentionMs));

export interface AskedRange {
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
  /** Milliseconds up to now; wins over the other two. */
  readonly period?: number | undefined;
}

export function readRange({ from, to, period }: AskedRange, now: Date, retentionMs?: number): Range {
  const since = retainedSince(now, retentionMs).getTime();
  const start = period === undefined ? from?.getTime() : now.getTime() - period;
  const end = period === undefined ? to?.getTime() : undefined;
  return {
    from: start === undefined ? null : storableDate(start < since ? floorHour(start) : start),
    to: end === undefined ? null : endOfRange(storableDate(end), since),
  };
}

/** The last moment that a count up to `end` includes. */
export const endOfRange = (end: Date, since: number): Date =>
  end.getTime() < since ? new Date(floorHour(end.getTime()) + hourMs - 1) : end;

const earliest = Date.UTC(1970, 0, 1);
const latest = Date.UTC(9999, 11, 31);

/** A date may be asked for that PostgreSQL cannot hold; nothing occurred there. */
const storableDate = (ms: number): Date => new Date(Math.min(latest, Math.max(earliest, ms)));
