import { nextOf, waitingRun } from './in-run.ts';

/** A length of time; the parts are added up. Months and years follow the calendar. */
export interface WaitTime {
  seconds?: number;
  minutes?: number;
  hours?: number;
  days?: number;
  weeks?: number;
  months?: number;
  years?: number;
}

const unitMs = { seconds: 1_000, minutes: 60_000, hours: 3_600_000, days: 86_400_000, weeks: 604_800_000 };
const maxMs = 100 * 366 * unitMs.days;

/** The length of a time in milliseconds, counted from `now`. */
export function lengthOf(time: WaitTime, now: number, what = 'wait.for'): number {
  const known = [...Object.keys(unitMs), 'months', 'years'];
  const parts = Object.entries(time).filter(([, amount]) => amount !== undefined) as [string, unknown][];
  if (parts.length === 0) throw new TypeError(`${what} requires a duration, such as { seconds: 30 }.`);
  let ms = 0;
  const calendar = new Date(now);
  for (const [unit, amount] of parts) {
    if (!known.includes(unit))
      throw new TypeError(`${what}: "${unit}" is not a unit; use ${known.join(', ')}.`);
    if (typeof amount !== 'number' || !(amount >= 0) || !Number.isFinite(amount)) {
      throw new TypeError(`${what}: ${unit} must be a number of at least 0; got ${String(amount)}.`);
    }
    if (unit in unitMs) ms += amount * unitMs[unit as keyof typeof unitMs];
    else calendar.setUTCMonth(calendar.getUTCMonth() + (unit === 'years' ? 12 * amount : amount));
  }
  ms += calendar.getTime() - now;
  if (!(ms <= maxMs)) throw new RangeError(`${what} waits for at most a hundred years.`);
  return Math.ceil(ms);
}

/**
 * Waits for a duration. The run is WAITING in the meantime: it occupies no slot of its queue or runner, its `maxDuration` is paused, and it
 * continues even after a restart of its runner, the server or PostgreSQL.
 *
 * @example
 * await wait.for({ hours: 1, minutes: 30 });
 */
export async function waitFor(time: WaitTime): Promise<void> {
  const { waits } = waitingRun('wait.for');
  const inMs = lengthOf(time, Date.now());
  await waits.begin({ key: `time/${nextOf(waits, 'time')}`, kind: 'TIME', inMs });
}

export interface WaitUntil {
  /** When to continue. A date in the past means immediately. */
  date: Date;
  /** Throw if the date is in the past. Default false. */
  throwIfInThePast?: boolean;
}

/**
 * Waits until a date, like `wait.for`.
 *
 * @example
 * await wait.until({ date: new Date('2027-01-01T00:00:00Z') });
 */
export async function waitUntil({ date, throwIfInThePast = false }: WaitUntil): Promise<void> {
  const { waits } = waitingRun('wait.until');
  const until = date instanceof Date ? date.getTime() : Number.NaN;
  if (Number.isNaN(until)) throw new TypeError('wait.until requires { date }, a valid Date.');
  const key = `time/${nextOf(waits, 'time')}`;
  if (throwIfInThePast && until < Date.now())
    throw new RangeError(`wait.until: ${date.toISOString()} is in the past.`);
  await waits.begin({ key, kind: 'TIME', until });
}
