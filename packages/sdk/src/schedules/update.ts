import { currentClient } from '../client/current-client.ts';
import {
  fromWire,
  scheduleId,
  type Schedule,
  type ScheduleReference,
  type UpdateScheduleOptions,
} from './schedule.ts';

/**
 * Replaces the settings of a schedule. Omitted settings are reset to their defaults. Throws a NotFoundError for an unknown schedule, and an
 * UnprocessableEntityError for invalid settings or a schedule that is declared in code.
 *
 * @example
 * await schedules.update('sched_…', { task: 'report', cron: '0 8 * * *' });
 */
export const update = async (
  schedule: ScheduleReference,
  options: UpdateScheduleOptions,
): Promise<Schedule> =>
  fromWire(
    await currentClient().call('updateSchedule', {
      params: { scheduleId: scheduleId(schedule) },
      body: options,
    }),
  );
