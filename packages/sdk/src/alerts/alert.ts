import type { Alert as WireAlert, AlertKind, AlertSubject as WireSubject } from '@millrace/contract';

/** A monitored condition in an environment, and whether it currently holds. */
export interface Alert extends Omit<WireAlert, 'firingSince' | 'lastSentAt' | 'createdAt'> {
  readonly firingSince: Date | null;
  readonly lastSentAt: Date | null;
  readonly createdAt: Date;
}

/** The subject of a firing alert, such as a queue. */
export interface AlertSubject extends Omit<WireSubject, 'since'> {
  readonly since: Date;
}

export interface AlertDetail extends Alert {
  readonly subjects: readonly AlertSubject[];
}

/** The alert settings that can be changed. */
export interface AlertSettings {
  /** Only this task, for alerts on errors, failure rates and schedules. Default: every task. */
  readonly task?: string | undefined;
  /** Only this queue (`task/<id>` is a task's own), for `queue.age`. Default: every queue. */
  readonly queue?: string | undefined;
  /** Only errors, tasks and schedules of these owners, such as `@payments`; for the same kinds as `task`. Default: all. */
  readonly owners?: readonly string[] | undefined;
  /**
   * Error groups or missed ticks (default 1), percentage of failed runs (default 10), or seconds that a run has waited (default 300 for
   * `queue.age`, 60 for `runner.none`).
   */
  readonly threshold?: number | undefined;
  /** For `task.failureRate`: the minimum number of runs that must have ended. Default 20. */
  readonly minRuns?: number | undefined;
  /** The period in which events count and for which a condition must hold, such as `'5m'`. */
  readonly window?: string | undefined;
  /** The minimum time between two messages, from `'1m'` to `'7d'`. Events in between are included in the later message. Default `'30m'`. */
  readonly quiet?: string | undefined;
  /** Endpoint ids. Default: all endpoints that accept `alert.*`. */
  readonly endpoints?: readonly string[] | undefined;
  /** Shown in messages. */
  readonly name?: string | undefined;
}

export interface CreateAlertOptions extends AlertSettings {
  readonly kind: AlertKind;
}

/** Null resets a field to its default: every task, every queue, every owner, every endpoint, no name. */
export type UpdateAlertOptions = Omit<AlertSettings, 'task' | 'queue' | 'owners' | 'endpoints' | 'name'> & {
  readonly [K in 'task' | 'queue' | 'name']?: string | null | undefined;
} & {
  readonly endpoints?: readonly string[] | null | undefined;
  readonly owners?: readonly string[] | null | undefined;
  /** False stops the checks. */
  readonly enabled?: boolean | undefined;
};

const dated = (text: string | null): Date | null => (text === null ? null : new Date(text));

export const fromWire = <T extends WireAlert>(wire: T): Omit<T, keyof Alert> & Alert => ({
  ...wire,
  firingSince: dated(wire.firingSince),
  lastSentAt: dated(wire.lastSentAt),
  createdAt: new Date(wire.createdAt),
});
