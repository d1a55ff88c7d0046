import { currentClient } from '../client/current-client.ts';
import { fromWire, scheduleId, type Schedule, type ScheduleReference } from './schedule.ts';

/**
 * Lets a schedule fire again, from its next tick on; what passed meanwhile is not made up for. Does nothing to an active one.
 * Throws a NotFoundError for an unknown one.
 *
 * @example
 * await schedules.activate('sched_…');
 */
export const activate = async (schedule: ScheduleReference): Promise<Schedule> =>
  fromWire(await currentClient().call('activateSchedule', { params: { scheduleId: scheduleId(schedule) } }));

/**
 * Keeps a schedule from firing. Runs that it made go on. Throws a NotFoundError for an unknown one.
 *
 * @example
 * await schedules.deactivate('sched_…');
 */
export const deactivate = async (schedule: ScheduleReference): Promise<Schedule> =>
  fromWire(
    await currentClient().call('deactivateSchedule', { params: { scheduleId: scheduleId(schedule) } }),
  );
