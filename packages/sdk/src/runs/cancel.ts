import type { ApiClient } from '../client/api-client.ts';
import { currentClient } from '../client/current-client.ts';
import { runId, type RunReference } from './run.ts';

/**
 * Cancels a run and its descendants. A waiting run is CANCELED immediately; in an executing run, `signal` is aborted, and the run is CANCELED
 * when its code has stopped. A run that has ended does not change. Throws a NotFoundError for an unknown run.
 *
 * @example
 * await runs.cancel(handle);
 */
export async function cancel(run: RunReference): Promise<{ readonly id: string }> {
  return cancelThrough(currentClient(), runId(run));
}

/** Cancels through the given client. */
export const cancelThrough = (client: ApiClient, id: string): Promise<{ readonly id: string }> =>
  client.call('cancelRun', { params: { runId: id } });
