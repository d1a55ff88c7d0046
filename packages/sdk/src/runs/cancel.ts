import type { ApiClient } from '../client/api-client.ts';
import { currentClient } from '../client/current-client.ts';
import { runId, type RunReference } from './run.ts';

/**
 * Asks for a run and its descendants to end. A waiting run is CANCELED at once; in an executing one, `signal` is aborted, and it
 * is CANCELED when its code has stopped. A run that is over stays as it is. Throws a NotFoundError for an unknown run.
 *
 * @example
 * await runs.cancel(handle);
 */
export async function cancel(run: RunReference): Promise<{ readonly id: string }> {
  return cancelThrough(currentClient(), runId(run));
}

/** Cancels through a given client. */
export const cancelThrough = (client: ApiClient, id: string): Promise<{ readonly id: string }> =>
  client.call('cancelRun', { params: { runId: id } });
