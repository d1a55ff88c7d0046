import type { OverlapRule, Schedule as WireSchedule } from '@millrace/contract';

/** A schedule. `nextRun` is null if there is no further tick or the schedule is not active. */
export type Schedule = Omit<WireSchedule, 'nextRun' | 'nextRunEffectiveAt'> & {
  /** The time that the cron expression names. */
  readonly nextRun: Date | null;
  /** When the run starts: later than `nextRun` only if the schedule has a window. */
  readonly nextRunEffectiveAt: Date | null;
};

/** New settings of a schedule. Omitted settings get their default. */
export interface UpdateScheduleOptions {
  /** The id of a task declared with `schedules.task`. An existing schedule keeps the task it has. */
  task: string;
  /**
   * Minute, hour, day of month, month, day of week: numbers, names, ranges, lists, steps, `L`; or `@daily` and the like.
   * Days of month and of week that are both restricted mean either.
   */
  cron: string;
  /** IANA name, such as `Europe/Paris`; clock changes are followed. Default `UTC`. */
  timezone?: string;
  /** Free text that each run gets, such as the id of a user; at most 2,048 characters. */
  externalId?: string;
  /** Start each run within this time after its tick, always at the same place: `15m`, `2h` (at most 24 h) or `50%` of the interval. */
  window?: string;
  /**
   * Ticks that no server fired within a minute: `skip` them, run the latest `once` (the default), or run `all:<time>` that are
   * not older than so many m, h or d, such as `all:6h` (at most 7 d).
   */
  missed?: 'skip' | 'once' | `all:${number}${'m' | 'h' | 'd'}`;
  /**
   * A tick while the last run is not over: `allow` it (the default), `skip` it, `queue` it behind the others of this schedule, or
   * `cancel` the last run.
   */
  overlap?: OverlapRule;
}

/** A new schedule, or what the one with the same key becomes. */
export interface CreateScheduleOptions extends UpdateScheduleOptions {
  /** At most 512 characters. An environment has one schedule with it; creating it again replaces its settings. */
  deduplicationKey: string;
  /**
   * False: it does not fire before it is activated. Default: a new one is active, and one that exists stays as it is. So leave it out where
   * a program creates its schedules at each start.
   */
  active?: boolean;
}

/** When a task runs by itself. */
export interface DeclaredCron extends Pick<
  UpdateScheduleOptions,
  'timezone' | 'window' | 'missed' | 'overlap'
> {
  /** A cron expression of five fields, or `@daily` and the like. */
  pattern: string;
  /** Only in these environments: `DEVELOPMENT`, `STAGING`, `PRODUCTION`, `PREVIEW`. Default: in all. */
  environments?: readonly string[];
}

/** A schedule by its id (`sched_…`), its deduplication key, or itself. */
export type ScheduleReference = string | { readonly id: string };

export function scheduleId(schedule: ScheduleReference): string {
  const id: unknown =
    typeof schedule === 'string' ? schedule : (schedule as { id?: unknown } | undefined)?.id;
  if (typeof id === 'string' && id !== '') return id;
  throw new TypeError(
    'A schedule is named by its id (sched_…), its deduplication key or the schedule itself.',
  );
}

const dateOf = (text: string | null): Date | null => (text === null ? null : new Date(text));

/** A schedule as the API sends it, with dates for its times. */
export const fromWire = (wire: WireSchedule): Schedule => ({
  ...wire,
  nextRun: dateOf(wire.nextRun),
  nextRunEffectiveAt: dateOf(wire.nextRunEffectiveAt),
});
