/** Durations and dates in requests. Nothing here throws; for invalid input, the result is `{ error }`, a sentence with the valid format. */
export interface Unreadable {
  readonly error: string;
}

const unitMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  hr: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

const maxCharacters = 100;
/** The largest instant that a Date can hold, in milliseconds. */
const lastInstant = 8.64e15;

/**
 * The end of the year 9999 in milliseconds since 1970: the format of later dates is not readable for the database.
 *
 * @example new Date(lastMoment).toISOString() // '9999-12-31T23:59:59.999Z'
 */
export const lastMoment = 253_402_300_799_999;

/**
 * Milliseconds of a duration such as `90s`, `1h30m` or `2d`: whole numbers with a unit (w d h hr m s), each unit once.
 *
 * @example parseDuration('1h30m') // 5400000
 */
export function parseDuration(text: string): number | Unreadable {
  const error = {
    error: `"${text.slice(0, maxCharacters)}" is not a duration; write numbers with units, such as 90s, 1h30m or 2d`,
  };
  if (text.length === 0 || text.length > maxCharacters) return error;
  const seen = new Set<string>();
  let total = 0;
  let rest = text;
  while (rest !== '') {
    const match = /^(\d{1,15})(hr|[wdhms])/.exec(rest);
    if (!match) return error;
    const unit = match[2] === 'hr' ? 'h' : (match[2] as string);
    if (seen.has(unit)) return { error: `"${text}" names a unit twice; write each of w, d, h, m and s once` };
    seen.add(unit);
    total += Number(match[1]) * (unitMs[unit] as number);
    rest = rest.slice(match[0].length);
  }
  return total <= lastInstant
    ? total
    : { error: `"${text}" is too long; its end is later than the latest possible date` };
}

/**
 * Whole seconds in the format of `parseDuration`: days, hours, minutes and seconds, without zero parts.
 *
 * @example durationText(5_400) // '1h30m'
 */
export function durationText(seconds: number): string {
  const [d, h, m, s] = [86_400, 3_600, 60, 1].map((unit, i, units) =>
    Math.floor((seconds % (units[i - 1] ?? Infinity)) / unit),
  );
  return [d && `${d}d`, h && `${h}h`, m && `${m}m`, s && `${s}s`].filter(Boolean).join('') || '0s';
}

const isoDate = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?::(\d{2})(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$/;

/**
 * An ISO 8601 date, with or without a time; in UTC if it has no offset, regardless of the process's time zone. Undefined for everything else,
 * and for days and times that do not exist: the Date parser would accept "10" as a year and the 30th of February as the 2nd of March.
 *
 * @example parseInstant('2026-11-21T10:00') // 2026-11-21T10:00:00.000Z
 */
export function parseInstant(text: string): Date | undefined {
  const [, day, time = '00:00', seconds = '00', fraction = '', offset = 'Z'] = isoDate.exec(text) ?? [];
  if (day === undefined) return undefined;
  const written = `${day}T${time}:${seconds}`;
  const wall = new Date(`${written}Z`);
  if (Number.isNaN(wall.getTime()) || wall.toISOString().slice(0, 19) !== written) return undefined;
  const at = new Date(`${written}${fraction.slice(0, 4)}${offset}`);
  return Number.isNaN(at.getTime()) ? undefined : at;
}

/**
 * When a delayed run is due: a Date, an ISO 8601 date, or a duration from `now`. A date in the past is due now.
 *
 * @example parseDelay('1h', new Date(0)) // 1970-01-01T01:00:00.000Z
 */
export function parseDelay(delay: string | Date, now: Date): Date | Unreadable {
  if (delay instanceof Date) {
    return Number.isNaN(delay.getTime()) ? { error: 'the delay is not a valid date' } : delay;
  }
  const duration = parseDuration(delay);
  if (typeof duration === 'number') {
    const due = new Date(now.getTime() + duration);
    return Number.isNaN(due.getTime())
      ? { error: `"${delay}" ends later than the latest possible date` }
      : due;
  }
  const date = parseInstant(delay);
  if (date !== undefined) return date;
  return {
    error: `"${delay.slice(0, maxCharacters)}" cannot be read; write a duration such as 90s, 1h30m or 2d, or an ISO 8601 date`,
  };
}
