import { currentClient } from '../client/current-client.ts';
import { scheduleId, type ScheduleReference } from './schedule.ts';

/** A past range of ticks. */
export interface BackfillOptions {
  /** The start of the range, inclusive. */
  from: Date;
  /** The end of the range, exclusive. */
  to: Date;
  /** Maximum number of ticks in one call, oldest first: 1 to 1,000. Default 100. */
  max?: number;
}

/** The result of a backfill. */
export interface Backfilled {
  /** The created runs, oldest tick first. */
  readonly runs: readonly { readonly id: string; readonly nominalAt: Date }[];
  /** The number of ticks in the range that had already run. */
  readonly alreadyRun: number;
  /** Where to continue if the range has more than `max` ticks. */
  readonly next: Date | undefined;
}

/**
 * Runs the ticks of a past range that have not been run. Each tick runs once, no matter how often its range is backfilled. The state of
 * ticks is stored for 30 days. Throws a NotFoundError for an unknown schedule, and an UnprocessableEntityError for a range that is empty or
 * has not ended.
 *
 * @example
 * const { runs } = await schedules.backfill('sched_…', { from: new Date('2026-01-01'), to: new Date('2026-01-08') });
 */
export async function backfill(
  schedule: ScheduleReference,
  { from, to, max }: BackfillOptions,
): Promise<Backfilled> {
  const done = await currentClient().call('backfillSchedule', {
    params: { scheduleId: scheduleId(schedule) },
    body: { from: from.toISOString(), to: to.toISOString(), max },
  });
  return {
    runs: done.runs.map(({ id, nominalAt }) => ({ id, nominalAt: new Date(nominalAt) })),
    alreadyRun: done.alreadyRun,
    next: done.next === undefined ? undefined : new Date(done.next),
  };
}
