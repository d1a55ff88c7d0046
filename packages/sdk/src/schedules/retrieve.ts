import { currentClient } from '../client/current-client.ts';
import { fromWire, scheduleId, type Schedule, type ScheduleReference } from './schedule.ts';

/**
 * A schedule, with the start delays of its latest runs. Throws a NotFoundError for an unknown schedule.
 *
 * @example
 * const { nextRun, lag } = await schedules.retrieve('sched_…');
 */
export const retrieve = async (schedule: ScheduleReference): Promise<Schedule> =>
  fromWire(await currentClient().call('retrieveSchedule', { params: { scheduleId: scheduleId(schedule) } }));
