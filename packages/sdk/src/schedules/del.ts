import { currentClient } from '../client/current-client.ts';
import { scheduleId, type ScheduleReference } from './schedule.ts';

/**
 * Deletes a schedule; its runs stay. One that is declared in code comes back with the next version that declares it.
 * Throws a NotFoundError for an unknown one.
 *
 * @example
 * await schedules.del('sched_…');
 */
export const del = async (schedule: ScheduleReference): Promise<{ readonly id: string }> =>
  currentClient().call('deleteSchedule', { params: { scheduleId: scheduleId(schedule) } });
