import { CronError, quote } from './cron-error.ts';
import { FIELDS, readField, refusal } from './fields.ts';

/**
 * A parsed cron expression: plain immutable data, safe to store and share. Sets of numbers are bit masks (bit n set: n matches), except the
 * minutes.
 */
export interface Cron {
  /** The five fields, separated by single spaces, with aliases such as `@daily` expanded. */
  readonly text: string;
  /**
   * True when minute and hour contain only numbers, lists and ranges: such a time is a point on the clock, and runs once on each matching
   * day even when a clock change skips or repeats it. False (`*`, `?` or `/` in one of them) for an interval, which runs at every real
   * minute that matches.
   */
  readonly fixed: boolean;
  /** True when the dates never occur, such as 30 February. */
  readonly never: boolean;
  /** Ascending. */
  readonly minutes: readonly number[];
  readonly hours: number;
  /** Bits 1-31. */
  readonly days: number;
  /** `L` in day-of-month: the last day of each month. */
  readonly lastDay: boolean;
  /** Bits 1-12. */
  readonly months: number;
  /** Bits 0 (Sunday) to 6. */
  readonly weekdays: number;
  /** Weekdays that match on their last date in a month, as `5L` does. */
  readonly lastWeekdays: number;
  /** Whether both day fields are restricted (neither is `*` or `?`): a date matches when either does. */
  readonly eitherDay: boolean;
}

const ALIASES: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};
const MAX_MONTH_DAYS = [0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
/** Long enough to list every value of every field. */
const MAX_LENGTH = 1000;

/**
 * Parses a cron expression of five fields: minute, hour, day of month, month, day of week.
 *
 * Each field accepts `*` (or `?`), numbers, names (`jan`-`dec`, `sun`-`sat`), ranges `1-5`, lists `1,3` and steps (`*` or a range or a first
 * value, then `/2`), case-insensitively; day of month accepts `L` (last day), day of week `1L`-`7L` (last such weekday of the month), with 0
 * and 7 both Sunday. When both day fields are restricted, a date matches when either does. Also `@yearly @annually @monthly @weekly @daily
 * @midnight @hourly`.
 *
 * Accepts dates that never occur and sets `never`: see {@link requireDates}.
 *
 * @throws {CronError} with the name of the field and the valid format.
 * @example
 * parseCron('0 9 * * mon-fri').fixed; // true
 */
export function parseCron(text: string): Cron {
  const written = text.trim();
  if (written.length > MAX_LENGTH)
    throw refusal(`it is longer than ${MAX_LENGTH} characters; write ranges instead of lists`);
  const texts = split(written);
  const [minuteText, hourText, dayText, monthText, weekdayText] = texts;

  const minute = readField(FIELDS.minute, minuteText);
  const hour = readField(FIELDS.hour, hourText);
  const day = readField(FIELDS.day, dayText);
  const month = readField(FIELDS.month, monthText);
  const weekday = readField(FIELDS.weekday, weekdayText);

  const anyWeekday = isAny(weekdayText);
  const lastDay = day.last.size > 0;
  const dateExists = [...month.values].some((m) =>
    [...day.values].some((d) => d <= (MAX_MONTH_DAYS[m] ?? 0)),
  );
  return {
    text: texts.join(' '),
    fixed: !/[*?/]/.test(minuteText + hourText),
    never: anyWeekday && !lastDay && !dateExists,
    minutes: [...minute.values].toSorted((a, b) => a - b),
    hours: mask(hour.values),
    days: mask(day.values),
    lastDay,
    months: mask(month.values),
    weekdays: mask(weekday.values),
    lastWeekdays: mask(weekday.last),
    eitherDay: !anyWeekday && !isAny(dayText),
  };
}

/**
 * Rejects an expression whose dates never occur, such as `0 0 30 2 *`.
 *
 * @throws {CronError}
 * @example
 * requireDates(parseCron('0 0 29 2 *')); // fine: leap years
 */
export function requireDates(cron: Cron): void {
  if (!cron.never) return;
  throw refusal(
    `${quote(cron.text)} names dates that never occur; write days that exist in these months, or L for the last day of a month`,
  );
}

type FiveTexts = [string, string, string, string, string];

function split(text: string): FiveTexts {
  const example = "'0 9 * * 1-5' (minute, hour, day of month, month, day of week)";
  if (text.startsWith('@')) {
    const meaning = ALIASES[text.toLowerCase()];
    if (meaning === undefined) {
      throw refusal(
        `${quote(text)} is not a known alias; write ${Object.keys(ALIASES).join(', ')} or five fields such as ${example}`,
      );
    }
    return meaning.split(' ') as FiveTexts;
  }
  const texts = text.split(/\s+/);
  if (text === '') throw refusal(`it is empty; write five fields such as ${example}`);
  if (texts.length > 5) {
    const shorter =
      texts.length === 6 ? `, for instance ${quote(texts.slice(1).join(' '))} without the seconds` : '';
    throw new CronError(
      `CRON expressions with seconds are not allowed: ${quote(text)} has ${texts.length} fields; write five${shorter}.`,
    );
  }
  if (texts.length < 5) {
    throw refusal(
      `${quote(text)} has ${texts.length} field${texts.length === 1 ? '' : 's'}; write five such as ${example}`,
    );
  }
  return texts as FiveTexts;
}

function isAny(text: string): boolean {
  return text === '*' || text === '?';
}

function mask(values: ReadonlySet<number>): number {
  let bits = 0;
  for (const value of values) bits |= 1 << value;
  return bits;
}
