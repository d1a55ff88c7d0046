import {
  type Cron,
  findZone,
  nextRun,
  parseCron,
  parseWindow,
  previousRun,
  requireDates,
  type Window,
  windowOffset,
} from '@millrace/contract/cron';

/** A parsed and validated firing pattern. Instants are milliseconds since 1970. */
export interface Pattern {
  /** The id of the schedule, which determines the position in its window. */
  readonly id: string;
  readonly cron: Cron;
  readonly timezone: string;
  readonly window: Window | undefined;
}

/** A time of the pattern, and when its run starts. */
export interface Tick {
  readonly nominal: number;
  readonly due: number;
}

/** The pattern fields in a request. */
export interface Written {
  readonly cron: string;
  readonly timezone?: string | null | undefined;
  readonly window?: string | null | undefined;
}

/** @throws {CronError} for an invalid expression, and for dates that never occur. */
export function readPattern(id: string, { cron, timezone, window }: Written): Pattern {
  const read = parseCron(cron);
  requireDates(read);
  // Stored verbatim, because the runtime's own name for it may differ, such as Asia/Calcutta.
  const zone = timezone || 'UTC';
  findZone(zone);
  return { id, cron: read, timezone: zone, window: window ? parseWindow(window) : undefined };
}

/** The first tick strictly after an instant. */
export function tickAfter(pattern: Pattern, after: number): Tick | undefined {
  const nominal = nextRun(pattern.cron, pattern.timezone, new Date(after));
  return nominal === null ? undefined : tickAt(pattern, nominal.getTime());
}

/** The last tick strictly before an instant. */
export function tickBefore(pattern: Pattern, before: number): Tick | undefined {
  const nominal = previousRun(pattern.cron, pattern.timezone, new Date(before));
  return nominal === null ? undefined : tickAt(pattern, nominal.getTime());
}

export const tickAt = (pattern: Pattern, nominal: number): Tick => ({
  nominal,
  due: nominal + offsetAt(pattern, nominal),
});

function offsetAt({ id, cron, timezone, window }: Pattern, nominal: number): number {
  if (window === undefined) return 0;
  if (window.kind === 'length') return windowOffset(window, id, 0);
  const next = nextRun(cron, timezone, new Date(nominal));
  return windowOffset(window, id, next === null ? 0 : next.getTime() - nominal);
}

/**
 * How much later than its nominal time a tick may start. For a window with a fixed length, this is the same for all ticks; for a
 * percentage, it is less than the interval.
 */
export const fixedOffset = ({ id, window }: Pattern): number =>
  window?.kind === 'length' ? windowOffset(window, id, 0) : 0;
