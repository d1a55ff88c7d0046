import type { ListedBatch as WireBatch } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';
import { pages, type PageList } from '../client/page.ts';

/** A batch with counts of its ended runs by outcome. */
export interface ListedBatch extends Omit<WireBatch, 'createdAt' | 'updatedAt' | 'sealedAt'> {
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** When its last item was stored and its runs were released. */
  readonly sealedAt?: Date;
}

export interface ListBatchesParams {
  /** Batches per page: 1 to 100. Default 25. */
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
 * The batches of the environment, newest first. Await the result for the first page, or iterate over it for all batches.
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
