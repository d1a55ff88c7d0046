import type { ScheduleType } from '@millrace/contract';
import type { Hooks } from '../hooks/types.ts';
import type { RunArguments, TaskDefinition, TaskSettings, Uninferred } from '../task/definition.ts';
import { task as declareTask } from '../task/task.ts';
import { taskBrand, type Task } from '../task/types.ts';
import type { DeclaredCron } from './schedule.ts';

/** What a scheduled run is given. */
export interface ScheduledTaskPayload {
  /** `sched_…` */
  readonly scheduleId: string;
  /** `DECLARATIVE` for the cron in the task's code, `IMPERATIVE` for a schedule made through the API. */
  readonly type: ScheduleType;
  /** The nominal time of the run, as the cron expression names it, however late it started. */
  readonly timestamp: Date;
  /** The nominal time of the previous run. */
  readonly lastTimestamp?: Date;
  /** IANA name, such as `Europe/Paris`. */
  readonly timezone: string;
  /** The `externalId` of the schedule. */
  readonly externalId?: string;
  /** The next five times. */
  readonly upcoming: readonly Date[];
}

/** A task for schedules. */
export interface ScheduledTaskOptions<TId extends string, TOutput>
  extends TaskSettings<TId>, Hooks<ScheduledTaskPayload, Uninferred<Awaited<TOutput>>> {
  /** When it runs by itself, in UTC or in a zone. Without it, only schedules that are created run it. */
  cron?: string | DeclaredCron;
  /** The work. What it returns is the run's output. */
  run: (payload: ScheduledTaskPayload, args: RunArguments) => TOutput;
}

/**
 * Declares a task that schedules may run. A `cron` in the declaration becomes a schedule when the version is registered. Later versions
 * change or remove it.
 *
 * @example
 * export const report = schedules.task({
 *   id: 'report',
 *   cron: { pattern: '0 9 * * mon-fri', timezone: 'Europe/Paris', environments: ['PRODUCTION'] },
 *   run: async ({ timestamp, lastTimestamp }) => sendReport(lastTimestamp, timestamp),
 * });
 */
export function task<const TId extends string, TOutput = unknown>(
  options: ScheduledTaskOptions<TId, TOutput>,
): Task<TId, ScheduledTaskPayload, Awaited<TOutput>> {
  const { cron, ...rest } = options;
  const declared = declareTask<TId, ScheduledTaskPayload, TOutput>(rest);
  const definition: TaskDefinition = {
    ...declared[taskBrand],
    scheduled: true,
    schedule: typeof cron === 'string' ? { pattern: cron } : cron,
  };
  return { ...declared, [taskBrand]: definition };
}
