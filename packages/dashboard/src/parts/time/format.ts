const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/**
 * A relative time in the past or future.
 *
 * @example relativeText(Date.now() - 65_000, Date.now()) // '1m ago'
 */
export function relativeText(at: number, now: number): string {
  const ms = now - at;
  const abs = Math.abs(ms);
  if (abs < 2 * second) return 'now';
  const text =
    abs < minute
      ? `${Math.floor(abs / second)}s`
      : abs < hour
        ? `${Math.floor(abs / minute)}m`
        : abs < 2 * day
          ? `${Math.floor(abs / hour)}h`
          : `${Math.floor(abs / day)}d`;
  return ms > 0 ? `${text} ago` : `in ${text}`;
}

/** `Intl` formats are expensive to create: one is cached for each zone and format. */
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string | undefined, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${zone} ${JSON.stringify(options)}`;
  let format = formats.get(key);
  if (!format) formats.set(key, (format = new Intl.DateTimeFormat('en-GB', { ...options, timeZone: zone })));
  return format;
}

/** The exact instant, to the millisecond, with the zone: `23 Nov 2026, 17:36:02.128 GMT+1`. */
export const exactText = (at: number, zone: string | undefined): string =>
  formatOf(zone, {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    fractionalSecondDigits: 3,
    timeZoneName: 'short',
  }).format(at);

/** The time of day, to the millisecond: for log lines. */
export const clockText = (at: number, zone: string | undefined): string =>
  formatOf(zone, { hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 }).format(
    at,
  );

/** Day and minute: for axes and lists of dates. */
export const dateText = (at: number, zone: string | undefined): string =>
  formatOf(zone, { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' }).format(at);

/** An axis label for an axis of this length: the time of day, the date, or both. */
export const axisTimeText = (at: number, lengthMs: number, zone: string | undefined): string =>
  formatOf(
    zone,
    lengthMs > 6 * day
      ? { day: 'numeric', month: 'short' }
      : lengthMs > 30 * hour
        ? { weekday: 'short', hour: '2-digit', minute: '2-digit' }
        : { hour: '2-digit', minute: '2-digit' },
  ).format(at);
