import { currentClient } from '../../client/current-client.ts';
import { runId } from '../run.ts';
import type { BulkRuns } from './bulk-action.ts';

async function create(
  action: 'cancel' | 'replay',
  { filter, runs, name }: BulkRuns,
): Promise<{ id: string }> {
  const body = { action, filter, runIds: runs?.map(runId), name };
  return currentClient().call('createBulkAction', { body });
}

/**
 * Cancels many runs with their descendants, in the background on the server. The runs that match a filter are determined at the time of the
 * call; runs created later are not included. Throws a BadRequestError for an invalid filter.
 *
 * @example
 * const { id } = await runs.bulk.cancel({ filter: { status: 'QUEUED', tag: 'import:42' }, name: 'wrong file' });
 * const { counts } = await runs.bulk.poll(id);
 */
export const cancel = (which: BulkRuns): Promise<{ id: string }> => create('cancel', which);

/**
 * Replays many runs, each exactly once, in the background on the server. `runs.list({ bulkAction: id })` lists the new runs.
 *
 * @example
 * await runs.bulk.replay({ filter: { status: 'FAILED', error: 'error_…', period: '2h' } });
 */
export const replay = (which: BulkRuns): Promise<{ id: string }> => create('replay', which);
