import type { OverlapRule, Schedule as WireSchedule } from '@millrace/contract';

/** A schedule. `nextRun` is null if there are no further ticks or the schedule is not active. */
export type Schedule = Omit<WireSchedule, 'nextRun' | 'nextRunEffectiveAt'> & {
  /** The time given by the cron expression. */
  readonly nextRun: Date | null;
  /** When the run starts: later than `nextRun` only if the schedule has a window. */
  readonly nextRunEffectiveAt: Date | null;
};

/** New settings of a schedule. Omitted settings are reset to their defaults. */
export interface UpdateScheduleOptions {
  /** The id of a task declared with `schedules.task`. The task of an existing schedule cannot be changed. */
  task: string;
  /**
   * Minute, hour, day of month, month, day of week: numbers, names, ranges, lists, steps, `L`; or `@daily` and similar. If both day of month
   * and day of week are restricted, a day matches either.
   */
  cron: string;
  /** IANA name, such as `Europe/Paris`; daylight saving changes are followed. Default `UTC`. */
  timezone?: string;
  /** Free text that is passed to each run, such as a user id; at most 2,048 characters. */
  externalId?: string;
  /** Start each run within this time after its tick, always at the same offset: `15m`, `2h` (at most 24 h) or `50%` of the interval. */
  window?: string;
  /**
   * How to handle ticks that no server fired within a minute: `skip` them, run only the latest (`once`, the default), or run all that are
   * not older than a number of minutes, hours or days, such as `all:6h` (at most 7 d).
   */
  missed?: 'skip' | 'once' | `all:${number}${'m' | 'h' | 'd'}`;
  /**
   * How to handle a tick while the last run has not ended: `allow` it (the default), `skip` it, `queue` it behind the other runs of this
   * schedule, or `cancel` the last run.
   */
  overlap?: OverlapRule;
}

/** A new schedule, or new settings for the one with the same key. */
export interface CreateScheduleOptions extends UpdateScheduleOptions {
  /** At most 512 characters, unique in an environment; creating a schedule with an existing key replaces its settings. */
  deduplicationKey: string;
  /**
   * Whether the schedule is active; if false, it does not fire until it is activated. Default: true for a new schedule, unchanged for an
   * existing one. Omit it in programs that create their schedules at each start.
   */
  active?: boolean;
}

/** When a task runs automatically. */
export interface DeclaredCron extends Pick<
  UpdateScheduleOptions,
  'timezone' | 'window' | 'missed' | 'overlap'
> {
  /** A cron expression of five fields, or `@daily` and similar. */
  pattern: string;
  /** Only in environments of these types: `DEVELOPMENT`, `STAGING`, `PRODUCTION`, `PREVIEW`. Default: all. */
  environments?: readonly string[];
}

/** A schedule by its id (`sched_…`) or deduplication key, or the schedule itself. */
export type ScheduleReference = string | { readonly id: string };

export function scheduleId(schedule: ScheduleReference): string {
  const id: unknown =
    typeof schedule === 'string' ? schedule : (schedule as { id?: unknown } | undefined)?.id;
  if (typeof id === 'string' && id !== '') return id;
  throw new TypeError('Pass the id of the schedule (sched_…), its deduplication key or the schedule itself.');
}

const dateOf = (text: string | null): Date | null => (text === null ? null : new Date(text));

/** A schedule from the API, with its times as dates. */
export const fromWire = (wire: WireSchedule): Schedule => ({
  ...wire,
  nextRun: dateOf(wire.nextRun),
  nextRunEffectiveAt: dateOf(wire.nextRunEffectiveAt),
});
