const unitMs = {
  millisecond: 1,
  second: 1_000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 7 * 86_400_000,
} as const;

const short: Readonly<Record<string, keyof typeof unitMs>> = {
  ms: 'millisecond',
  s: 'second',
  m: 'minute',
  h: 'hour',
  hr: 'hour',
  d: 'day',
  w: 'week',
};

/** A length of time: milliseconds, or a text such as `3 days`, `90s` or `1h 30m`. */
export type Duration = number | string;

const part = /(\d+(?:\.\d+)?)\s*([a-z]+)/gi;
const wholePattern = /^(?:\s*\d+(?:\.\d+)?\s*[a-z]+\s*,?(?:\s*and)?)+$/i;

/** A hundred years. The engine does not support every time that a number can represent. */
const maxMs = 36_525 * unitMs.day;

/** Milliseconds of a length of time. Throws a TypeError with the accepted formats. */
export function durationMs(duration: Duration): number {
  const ms = typeof duration === 'string' ? parse(duration) : duration;
  if (typeof ms === 'number' && ms >= 0 && ms <= maxMs) return Math.round(ms);
  throw new TypeError(
    `advance requires milliseconds of at least 0, or a string such as "3 days", "90s" or "1h 30m", at most 100 years; got ${typeof duration === 'number' ? duration : JSON.stringify(duration)}.`,
  );
}

function parse(text: string): number | undefined {
  if (text.length > 100 || !wholePattern.test(text)) return undefined;
  let ms = 0;
  for (const [, amount, name = ''] of text.matchAll(part)) {
    const lower = name.toLowerCase();
    if (lower === 'and') continue;
    const unit = short[lower] ?? lower.replace(/s$/, '');
    if (!Object.hasOwn(unitMs, unit)) return undefined;
    ms += Number(amount) * unitMs[unit as keyof typeof unitMs];
  }
  return ms;
}
