import { currentClient } from '../../client/current-client.ts';
import { pages, type PageList } from '../../client/page.ts';
import { pause } from '../pause.ts';
import type { PollOptions } from '../poll.ts';
import { bulkId, fromWire, type BulkAction, type BulkReference } from './bulk-action.ts';
import { cancel, replay } from './create.ts';

/** How a bulk action stands. Throws a NotFoundError for an unknown one. */
async function retrieve(action: BulkReference): Promise<BulkAction> {
  const params = { bulkActionId: bulkId(action) };
  return fromWire(await currentClient().call('retrieveBulkAction', { params }));
}

/** Stops a bulk action. What it has done stays done. Throws an UnprocessableEntityError for one that is over. */
async function abort(action: BulkReference): Promise<{ id: string }> {
  return currentClient().call('abortBulkAction', { params: { bulkActionId: bulkId(action) } });
}

/** Bulk actions, newest first. Await it for the first page, or iterate it for all. */
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
  /** Called with how it stands, each time that is asked. */
  onProgress?: (action: BulkAction) => void;
}

/** Waits until a bulk action is over, done or stopped. */
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

/** One action on many runs. */
export const bulk = { cancel, replay, retrieve, list, abort, poll };
