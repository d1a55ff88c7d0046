import type { Unreadable } from './duration.ts';

const DAY = 86_400_000;
const UNITS: readonly (readonly [words: RegExp, ms: number])[] = [
  [/^(?:s|secs?|seconds?)$/, 1_000],
  [/^(?:m|mins?|minutes?)$/, 60_000],
  [/^(?:h|hrs?|hours?)$/, 3_600_000],
  [/^(?:d|days?)$/, DAY],
  [/^(?:w|weeks?)$/, 7 * DAY],
  [/^(?:y|yrs?|years?)$/, 365.25 * DAY],
];
/** The range of a Date, in milliseconds. */
const LONGEST = 8.64e15;

/**
 * Milliseconds of a time span in the format of token lifetimes: a number and a unit in letters or words (`15m`, `2 hours`, `7d`, `1.5 hrs`,
 * `1y` of 365.25 days), with an optional sign before it or `ago` or `from now` after it. Negative for the past. For invalid input, the
 * result is `{ error }`.
 *
 * @example
 * parseTimeSpan('2 hours'); // 7_200_000
 * parseTimeSpan('1 day ago'); // -86_400_000
 */
export function parseTimeSpan(text: string): number | Unreadable {
  const parts = /^([+-])? ?(\d+(?:\.\d+)?) ?([a-z]+)(?: (ago|from now))?$/.exec(text.toLowerCase());
  const [, sign, number, word = '', direction] = parts ?? [];
  const unit = UNITS.find(([words]) => words.test(word))?.[1];
  const quoted = `"${text.slice(0, 100)}"`;
  if (unit === undefined || text.length > 100 || (sign !== undefined && direction !== undefined)) {
    return {
      error: `${quoted} is not a time span; write a number and a unit, such as 15m, 2 hours, 7d or 1y`,
    };
  }
  const size = Math.round(Number(number) * unit);
  if (size > LONGEST) return { error: `${quoted} is too long; write less than 270,000 years` };
  return size !== 0 && (sign === '-' || direction === 'ago') ? -size : size;
}
