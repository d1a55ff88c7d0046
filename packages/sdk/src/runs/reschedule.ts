import { currentClient } from '../client/current-client.ts';
import { fromWire, runId, type Run, type RunReference } from './run.ts';

/** When a run is due. */
export interface RescheduleOptions {
  /** A date that is not past, or a duration from now such as `1h30m`. */
  delay: Date | string;
}

/**
 * Gives a run that is still delayed another time. Throws an UnprocessableEntityError when it is not delayed any more, a
 * BadRequestError for a date that is past, a NotFoundError for an unknown run.
 *
 * @example
 * await runs.reschedule(handle, { delay: '2d' });
 */
export async function reschedule(run: RunReference, { delay }: RescheduleOptions): Promise<Run> {
  const params = { runId: runId(run) };
  const body = { delay: delay instanceof Date ? delay.toISOString() : delay };
  return fromWire(await currentClient().call('rescheduleRun', { params, body }));
}
