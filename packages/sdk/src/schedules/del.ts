import { currentClient } from '../client/current-client.ts';
import { scheduleId, type ScheduleReference } from './schedule.ts';

/**
 * Deletes a schedule; its runs remain. A schedule declared in code is recreated by the next version that declares it. Throws a
 * NotFoundError for an unknown schedule.
 *
 * @example
 * await schedules.del('sched_…');
 */
export const del = async (schedule: ScheduleReference): Promise<{ readonly id: string }> =>
  currentClient().call('deleteSchedule', { params: { scheduleId: scheduleId(schedule) } });
