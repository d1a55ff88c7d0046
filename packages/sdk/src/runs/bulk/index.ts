import { currentClient } from '../../client/current-client.ts';
import { pages, type PageList } from '../../client/page.ts';
import { pause } from '../pause.ts';
import type { PollOptions } from '../poll.ts';
import { bulkId, fromWire, type BulkAction, type BulkReference } from './bulk-action.ts';
import { cancel, replay } from './create.ts';

/** The state of a bulk action. Throws a NotFoundError for an unknown one. */
async function retrieve(action: BulkReference): Promise<BulkAction> {
  const params = { bulkActionId: bulkId(action) };
  return fromWire(await currentClient().call('retrieveBulkAction', { params }));
}

/** Stops a bulk action. Completed work is not undone. Throws an UnprocessableEntityError if it has already ended. */
async function abort(action: BulkReference): Promise<{ id: string }> {
  return currentClient().call('abortBulkAction', { params: { bulkActionId: bulkId(action) } });
}

/** Bulk actions, newest first. Await the result for the first page, or iterate over it for all. */
function list(params: { limit?: number; after?: string; before?: string } = {}): PageList<BulkAction> {
  const client = currentClient();
  return pages(
    async ({ after, before }) => {
      const query = { 'page[size]': params.limit, 'page[after]': after, 'page[before]': before };
      const { data, pagination } = await client.call('listBulkActions', { query });
      return { data: data.map(fromWire), pagination };
    },
    { after: params.after, before: params.before },
  );
}

/** How `runs.bulk.poll` waits. */
export interface BulkPollOptions extends Pick<PollOptions, 'pollIntervalMs' | 'signal'> {
  /** Called with its state after each poll. */
  onProgress?: (action: BulkAction) => void;
}

/** Waits until a bulk action is completed or stopped. */
async function poll(
  reference: BulkReference,
  { pollIntervalMs = 1_000, signal, onProgress }: BulkPollOptions = {},
): Promise<BulkAction> {
  for (;;) {
    signal?.throwIfAborted();
    const action = await retrieve(reference);
    onProgress?.(action);
    if (action.status !== 'PENDING') return action;
    await pause(pollIntervalMs, signal);
  }
}

/** Actions on many runs at once. */
export const bulk = { cancel, replay, retrieve, list, abort, poll };
