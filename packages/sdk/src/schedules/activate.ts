import { currentClient } from '../client/current-client.ts';
import { fromWire, scheduleId, type Schedule, type ScheduleReference } from './schedule.ts';

/**
 * Activates a schedule from its next tick. Ticks missed in the meantime are not run. Has no effect on an active schedule. Throws a
 * NotFoundError for an unknown schedule.
 *
 * @example
 * await schedules.activate('sched_…');
 */
export const activate = async (schedule: ScheduleReference): Promise<Schedule> =>
  fromWire(await currentClient().call('activateSchedule', { params: { scheduleId: scheduleId(schedule) } }));

/**
 * Deactivates a schedule. Runs that it created continue. Throws a NotFoundError for an unknown schedule.
 *
 * @example
 * await schedules.deactivate('sched_…');
 */
export const deactivate = async (schedule: ScheduleReference): Promise<Schedule> =>
  fromWire(
    await currentClient().call('deactivateSchedule', { params: { scheduleId: scheduleId(schedule) } }),
  );
