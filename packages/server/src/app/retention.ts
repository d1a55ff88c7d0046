import { defaultAges } from '../errors/counts/range.ts';

/** How long finished data is retained. */
export interface Retention {
  /** Log lines of runs. Default 14 days. */
  readonly logsMs: number;
  /** Individual occurrences of errors; hourly counts outlive them. Default 30 days. */
  readonly occurrencesMs: number;
  /** Hourly counts of errors; daily counts outlive them. Default 90 days. */
  readonly errorHoursMs: number;
  /** Ended events, including their ids for deduplication. Default 30 days. */
  readonly eventsMs: number;
  /** Deliveries of webhooks, including the ids of their senders for deduplication. Default 30 days. */
  readonly webhooksMs: number;
  /** Notifications and their deliveries. Default 30 days. */
  readonly notificationsMs: number;
  /** Closed or expired sessions, with all their records. Default 30 days. */
  readonly sessionsMs: number;
  /** Records of channels, including those of open sessions. Default 30 days. */
  readonly recordsMs: number;
  /** Ended runs, unless their environment has its own retention. Default 30 days. */
  readonly runsMs: number;
}

const dayMs = 86_400_000;

export const defaultRetention: Retention = {
  logsMs: 14 * dayMs,
  occurrencesMs: defaultAges.hours,
  errorHoursMs: defaultAges.days,
  eventsMs: 30 * dayMs,
  webhooksMs: 30 * dayMs,
  notificationsMs: 30 * dayMs,
  sessionsMs: 30 * dayMs,
  recordsMs: 30 * dayMs,
  runsMs: 30 * dayMs,
};
