import type { ListedBatch as WireBatch } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';
import { pages, type PageList } from '../client/page.ts';

/** A batch with how many of its runs have ended, and how. */
export interface ListedBatch extends Omit<WireBatch, 'createdAt' | 'updatedAt' | 'sealedAt'> {
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** When its last item was stored and its runs were let go. */
  readonly sealedAt?: Date;
}

export interface ListBatchesParams {
  /** Batches a page: 1 to 100. Default 25. */
  limit?: number;
  /** Start after the batch with this id. */
  after?: string;
  /** Start before the batch with this id. */
  before?: string;
}

const fromWire = ({ createdAt, updatedAt, sealedAt, ...same }: WireBatch): ListedBatch => ({
  ...same,
  createdAt: new Date(createdAt),
  updatedAt: new Date(updatedAt),
  ...(sealedAt !== undefined && { sealedAt: new Date(sealedAt) }),
});

/**
 * Batches of the environment, newest first. Await it for the first page, or iterate it for all.
 *
 * @example
 * for await (const { id, counts } of batch.list()) console.log(id, counts.live, counts.failed);
 */
export function list(params: ListBatchesParams = {}): PageList<ListedBatch> {
  const client = currentClient();
  return pages(
    async ({ after, before }) => {
      const query = { 'page[size]': params.limit, 'page[after]': after, 'page[before]': before };
      const { data, pagination } = await client.call('listBatches', { query });
      return { data: data.map(fromWire), pagination };
    },
    { after: params.after, before: params.before },
  );
}
