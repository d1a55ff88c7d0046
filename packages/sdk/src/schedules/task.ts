import type { ScheduleType } from '@millrace/contract';
import type { Hooks } from '../hooks/types.ts';
import type { RunArguments, TaskDefinition, TaskSettings, Uninferred } from '../task/definition.ts';
import { task as declareTask } from '../task/task.ts';
import { taskBrand, type Task } from '../task/types.ts';
import type { DeclaredCron } from './schedule.ts';

/** The payload of a scheduled run. */
export interface ScheduledTaskPayload {
  /** `sched_…` */
  readonly scheduleId: string;
  /** `DECLARATIVE` for the cron in the task's code, `IMPERATIVE` for a schedule created through the API. */
  readonly type: ScheduleType;
  /** The nominal time of the run according to the cron expression, no matter how late it started. */
  readonly timestamp: Date;
  /** The nominal time of the previous run. */
  readonly lastTimestamp?: Date;
  /** IANA name, such as `Europe/Paris`. */
  readonly timezone: string;
  /** The `externalId` of the schedule. */
  readonly externalId?: string;
  /** The next five nominal times. */
  readonly upcoming: readonly Date[];
}

/** A task that schedules can run. */
export interface ScheduledTaskOptions<TId extends string, TOutput>
  extends TaskSettings<TId>, Hooks<ScheduledTaskPayload, Uninferred<Awaited<TOutput>>> {
  /** When it runs automatically, in UTC or in a zone. If omitted, only schedules created through the API run it. */
  cron?: string | DeclaredCron;
  /** The task's function. Its return value is the run's output. */
  run: (payload: ScheduledTaskPayload, args: RunArguments) => TOutput;
}

/**
 * Declares a task that schedules can run. A `cron` in the declaration becomes a schedule when the version is registered. Later versions change
 * or remove it.
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
