import { currentClient } from '../client/current-client.ts';
import { scheduleId, type ScheduleReference } from './schedule.ts';

/** A future tick. */
export interface UpcomingTick {
  /** The time given by the cron expression. */
  readonly nominalAt: Date;
  /** When its run starts: later only if the schedule has a window. */
  readonly effectiveAt: Date;
}

/**
 * The next `n` ticks of a schedule (1 to 1,000, default 10) after `from` (default now), whether or not it is active. Throws a NotFoundError for
 * an unknown schedule.
 *
 * @example
 * const [next] = await schedules.preview('sched_…', { n: 1 });
 */
export async function preview(
  schedule: ScheduleReference,
  { n, from }: { n?: number; from?: Date } = {},
): Promise<UpcomingTick[]> {
  const { ticks } = await currentClient().call('previewSchedule', {
    params: { scheduleId: scheduleId(schedule) },
    query: { n, from: from?.toISOString() },
  });
  return ticks.map(({ nominalAt, effectiveAt }) => ({
    nominalAt: new Date(nominalAt),
    effectiveAt: new Date(effectiveAt),
  }));
}
