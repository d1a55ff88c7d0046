import { defaultAges } from '../errors/counts/range.ts';

/** How long what has ended is stored. */
export interface Retention {
  /** Lines that runs wrote. Default 14 days. */
  readonly logsMs: number;
  /** Single occurrences of errors; counts by the hour outlive them. Default 30 days. */
  readonly occurrencesMs: number;
  /** Counts of errors by the hour; those by the day outlive them. Default 90 days. */
  readonly errorHoursMs: number;
  /** Events that are over, and with them the memory of their ids. Default 30 days. */
  readonly eventsMs: number;
  /** Notifications and how they were delivered. Default 30 days. */
  readonly notificationsMs: number;
  /** Sessions that were closed or expired, with all their records. Default 30 days. */
  readonly sessionsMs: number;
  /** Records of channels, also of sessions that go on. Default 30 days. */
  readonly recordsMs: number;
  /** Runs that ended, unless their environment has a retention of its own. Default 30 days. */
  readonly runsMs: number;
}

const dayMs = 86_400_000;

export const defaultRetention: Retention = {
  logsMs: 14 * dayMs,
  occurrencesMs: defaultAges.hours,
  errorHoursMs: defaultAges.days,
  eventsMs: 30 * dayMs,
  notificationsMs: 30 * dayMs,
  sessionsMs: 30 * dayMs,
  recordsMs: 30 * dayMs,
  runsMs: 30 * dayMs,
};
