import { currentClient } from '../client/current-client.ts';
import { fromWire, runId, type Run, type RunReference } from './run.ts';

/** The new time of a run. */
export interface RescheduleOptions {
  /** A date that is not in the past, or a duration from now such as `1h30m`. */
  delay: Date | string;
}

/**
 * Changes the time of a run that is still delayed. Throws an UnprocessableEntityError if it is no longer delayed, a BadRequestError for a date
 * in the past, and a NotFoundError for an unknown run.
 *
 * @example
 * await runs.reschedule(handle, { delay: '2d' });
 */
export async function reschedule(run: RunReference, { delay }: RescheduleOptions): Promise<Run> {
  const params = { runId: runId(run) };
  const body = { delay: delay instanceof Date ? delay.toISOString() : delay };
  return fromWire(await currentClient().call('rescheduleRun', { params, body }));
}
