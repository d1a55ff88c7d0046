import { currentClient } from '../client/current-client.ts';
import { fromWire, type CreateScheduleOptions, type Schedule } from './schedule.ts';

/**
 * Creates a schedule, or replaces the settings of the one with the same key, except its task. An existing schedule is activated or deactivated
 * only by `active`. Throws an UnprocessableEntityError that explains the valid format for an invalid cron expression, zone, window or task.
 *
 * @example
 * await schedules.create({
 *   task: 'report',
 *   cron: '0 9 * * mon-fri',
 *   timezone: 'Europe/Paris',
 *   externalId: user.id,
 *   deduplicationKey: `report-${user.id}`,
 * });
 */
export const create = async (options: CreateScheduleOptions): Promise<Schedule> =>
  fromWire(await currentClient().call('createSchedule', { body: options }));
