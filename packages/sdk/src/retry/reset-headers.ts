/** The response header with the time of the retry. */
export interface ResetHeaders {
  /** The header with the time. */
  resetHeader: string;
  /**
   * The format of the header. `unix_timestamp` and `unix_timestamp_in_ms` count from 1970; `iso_8601` is a date;
   * `iso_8601_duration_openai_variant` is a duration such as `1m30.5s` or `250ms`; `delay_seconds`, as in `Retry-After`, is seconds from now or
   * an HTTP date. Default `unix_timestamp`.
   */
  resetFormat?:
    | 'unix_timestamp'
    | 'unix_timestamp_in_ms'
    | 'iso_8601'
    | 'iso_8601_duration_openai_variant'
    | 'delay_seconds';
  /** The header with the number of remaining requests. Unless it is 0, there is no wait. */
  remainingHeader?: string;
  /** The header with the limit. For documentation only. */
  limitHeader?: string;
}

/** Maximum wait in a process: an hour. */
const maxMs = 3_600_000;

/** Milliseconds to wait according to the headers. Undefined if they are missing or the wait is too long. */
export function resetDelay(
  { resetHeader, resetFormat = 'unix_timestamp', remainingHeader }: ResetHeaders,
  headers: Headers,
  now: number,
): number | undefined {
  const remaining = remainingHeader === undefined ? null : headers.get(remainingHeader);
  if (remaining !== null && Number(remaining) > 0) return undefined;
  const text = headers.get(resetHeader)?.trim();
  if (text === undefined || text === '') return undefined;
  const delay = read(text, resetFormat, now);
  if (delay === undefined || !Number.isFinite(delay) || delay > maxMs) return undefined;
  return Math.max(0, Math.ceil(delay));
}

function read(
  text: string,
  format: NonNullable<ResetHeaders['resetFormat']>,
  now: number,
): number | undefined {
  switch (format) {
    case 'unix_timestamp':
      return Number(text) * 1_000 - now;
    case 'unix_timestamp_in_ms':
      return Number(text) - now;
    case 'iso_8601':
      return Date.parse(text) - now;
    case 'delay_seconds':
      return /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now;
    case 'iso_8601_duration_openai_variant':
      return durationMs(text);
  }
}

const unitMs = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 } as const;

function durationMs(text: string): number | undefined {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|[dhms]))+$/.test(text)) return undefined;
  return [...text.matchAll(/(\d+(?:\.\d+)?)(ms|[dhms])/g)].reduce(
    (sum, [, amount, unit]) => sum + Number(amount) * unitMs[unit as keyof typeof unitMs],
    0,
  );
}
