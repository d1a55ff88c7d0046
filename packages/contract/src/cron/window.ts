import { CronError, quote } from './cron-error.ts';

/** The window of a schedule: a length of time, or a share of the time to the next run. */
export type Window =
  | { readonly kind: 'length'; /** Milliseconds, at most 24 hours. */ readonly ms: number }
  | { readonly kind: 'share'; /** 0 to 100. */ readonly percent: number };

const MINUTE = 60_000;
const DAY_IN_MINUTES = 1440;

/**
 * Parses the window of a schedule: `"<n>m"` or `"<n>h"` (whole minutes or hours, at most 24 hours, `0m` for none) or `"<p>%"` (0-100, of the
 * time between a run and the next).
 *
 * @throws {CronError} with the valid format.
 * @example
 * parseWindow('30m'); // { kind: 'length', ms: 1_800_000 }
 * parseWindow('50%'); // { kind: 'share', percent: 50 }
 */
export function parseWindow(text: string): Window {
  const [, digits, unit] = /^(\d{1,6})([mh%])$/.exec(text) ?? [];
  if (digits === undefined) {
    throw new CronError(
      `Invalid window: ${quote(text)}. Write whole minutes or hours up to 24h, such as '15m' or '2h', or a percentage such as '50%'.`,
    );
  }
  const number = Number(digits);
  if (unit === '%') {
    if (number > 100)
      throw new CronError(
        `Invalid window: ${quote(text)} is more than the whole time to the next run; write 0% to 100%.`,
      );
    return { kind: 'share', percent: number };
  }
  const minutes = unit === 'h' ? number * 60 : number;
  if (minutes > DAY_IN_MINUTES)
    throw new CronError(
      `Invalid window: ${quote(text)} is longer than 24 hours; write at most '24h' or '1440m'.`,
    );
  return { kind: 'length', ms: minutes * MINUTE };
}

/**
 * How long after its nominal time a schedule starts: whole milliseconds, at least 0 and less than the window. Every run of one schedule has the
 * same share of the window; shares are spread evenly over schedules.
 *
 * @param intervalMs from this nominal time to the next one; 0 when none follows. Only a percentage needs it.
 * @example
 * windowOffset(parseWindow('1h'), 'sched_8p2k', 86_400_000); // the same number below 3_600_000 every time
 */
export function windowOffset(window: Window, scheduleId: string, intervalMs: number): number {
  const length = window.kind === 'length' ? window.ms : (intervalMs * window.percent) / 100;
  return Math.floor(shareOf(scheduleId) * length);
}

/** A number in [0, 1) that depends only on the id: FNV-1a over its UTF-16 units, then mixed, so that similar ids diverge. */
function shareOf(id: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
