import { CronError, quote } from './cron-error.ts';

/** One of the five fields: its bounds, its names, and the special forms it accepts. */
interface Field {
  readonly title: string;
  readonly min: number;
  readonly max: number;
  /** Three-letter names; the first is `min`. */
  readonly names: readonly string[];
  readonly accepts: string;
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

export const FIELDS = {
  minute: { title: 'minute', min: 0, max: 59, names: [], accepts: '0-59' },
  hour: { title: 'hour', min: 0, max: 23, names: [], accepts: '0-23' },
  day: { title: 'day-of-month', min: 1, max: 31, names: [], accepts: '1-31 or L' },
  month: { title: 'month', min: 1, max: 12, names: MONTHS, accepts: '1-12 or jan-dec' },
  weekday: { title: 'day-of-week', min: 0, max: 7, names: WEEKDAYS, accepts: '0-7, sun-sat or 1L-7L' },
} as const satisfies Record<string, Field>;

/** The values of a field. `last` holds `L` itself (day 0) or the weekdays of `1L`-`7L`. */
export interface FieldValues {
  readonly values: ReadonlySet<number>;
  readonly last: ReadonlySet<number>;
}

/** Parses one field: a list of `*`, `?`, numbers, names, ranges, steps and the forms of `L`. */
export function readField(field: Field, text: string): FieldValues {
  const values = new Set<number>();
  const last = new Set<number>();
  for (const item of text.toLowerCase().split(',')) {
    if (item === '') {
      throw refusal(
        `${quote(text)} in the ${field.title} field has an empty item; write values separated by single commas, such as ${field.min},${field.min + 1}`,
      );
    }
    const lastOf = readLast(field, item);
    if (lastOf === undefined) addRange(field, item, values);
    else last.add(lastOf);
  }
  return { values, last };
}

/** 0 for `L`, the weekday for `5L`; undefined when the item is not a last-day form. */
function readLast(field: Field, item: string): number | undefined {
  if (field === FIELDS.day && item === 'l') return 0;
  if (field === FIELDS.weekday) {
    if (item === 'l') {
      throw refusal(
        'L alone is not understood in the day-of-week field; write 6L for the last Saturday of the month, or 6 for every Saturday',
      );
    }
    if (item.length > 1 && item.endsWith('l')) return readNumber(field, item.slice(0, -1), item) % 7;
  }
  return undefined;
}

function addRange(field: Field, item: string, values: Set<number>): void {
  const parts = /^(\*|\?|[a-z0-9]+)(?:-([a-z0-9]+))?(?:\/([a-z0-9]+))?$/.exec(item);
  const [, start = '', end, stepText] = parts ?? [];
  const any = start === '*' || start === '?';
  if (parts === null || (any && end !== undefined)) throw garbage(field, item);

  const step = stepText === undefined ? 1 : readStep(field, stepText, item);
  const from = any ? field.min : readNumber(field, start, item);
  let to = from;
  if (end !== undefined) to = readNumber(field, end, item);
  else if (any || stepText !== undefined) to = Math.max(from, lastValue(field));
  // In `fri-sun`, Sunday is the last day of the week, as at the end of any range.
  if (end === 'sun' && from > 0) to = 7;
  if (to < from) throw reversed(field, item, start, end ?? '', from, to);
  for (let value = from; value <= to; value += step) values.add(field === FIELDS.weekday ? value % 7 : value);
}

/** The end of an open range: Saturday for weekdays, because 7 is just another form of Sunday. */
function lastValue(field: Field): number {
  return field === FIELDS.weekday ? 6 : field.max;
}

function readNumber(field: Field, text: string, item: string): number {
  const named = field.names.indexOf(text);
  if (named >= 0) return named + field.min;
  if (!/^\d+$/.test(text)) throw garbage(field, item);
  const value = Number(text);
  if (value < field.min || value > field.max) {
    throw refusal(`${text.slice(0, 20)} is out of range in the ${field.title} field; write ${field.accepts}`);
  }
  return value;
}

function readStep(field: Field, text: string, item: string): number {
  if (!/^\d+$/.test(text)) throw garbage(field, item);
  const step = Number(text);
  if (step === 0)
    throw refusal(
      `the step of ${quote(item)} in the ${field.title} field is 0; write a step of 1 or more, such as */5`,
    );
  const maxStep = lastValue(field) - field.min + 1;
  if (step > maxStep) {
    throw refusal(
      `the step of ${quote(item)} in the ${field.title} field is larger than the field; write a step of 1-${maxStep}`,
    );
  }
  return step;
}

function reversed(
  field: Field,
  item: string,
  start: string,
  end: string,
  from: number,
  to: number,
): CronError {
  const max = lastValue(field);
  const upTo = from === max ? start : `${start}-${max}`;
  const since = to === field.min ? end : `${field.min}-${end}`;
  const instead = field === FIELDS.weekday && to === 0 ? `${start}-7` : `two ranges, ${upTo},${since}`;
  return refusal(`the range ${quote(item)} in the ${field.title} field runs backwards; write ${instead}`);
}

function garbage(field: Field, item: string): CronError {
  if (/^\d*w$|#/.test(item)) {
    return refusal(
      `${quote(item)} in the ${field.title} field is not supported (W and # are not); write ${field.accepts}`,
    );
  }
  return refusal(
    `${quote(item)} is not understood in the ${field.title} field; write * or ${field.accepts}, a range such as 1-5, a list such as 1,3 or a step such as */2`,
  );
}

export function refusal(reason: string): CronError {
  return new CronError(`Invalid cron expression: ${reason}.`);
}
