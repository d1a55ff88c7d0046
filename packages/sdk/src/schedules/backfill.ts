import { currentClient } from '../client/current-client.ts';
import { scheduleId, type ScheduleReference } from './schedule.ts';

/** A past range of ticks. */
export interface BackfillOptions {
  /** The range begins with this instant. */
  from: Date;
  /** The range ends before this instant. */
  to: Date;
  /** Most ticks of one call, the oldest first: 1 to 1,000. Default 100. */
  max?: number;
}

/** What a backfill did. */
export interface Backfilled {
  /** Runs that were made, oldest tick first. */
  readonly runs: readonly { readonly id: string; readonly nominalAt: Date }[];
  /** Ticks of the range that had been run before. */
  readonly alreadyRun: number;
  /** Where to go on when the range has more than `max` ticks. */
  readonly next: Date | undefined;
}

/**
 * Runs the ticks of a past range that were not run. Each tick runs once, however often its range is filled: the state of ticks is
 * stored for 30 days. Throws a NotFoundError for an unknown schedule, an UnprocessableEntityError for a range that is empty or not over.
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
