import type { KeyWeightResponse } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';
import { pages, type PageList } from '../client/page.ts';

/** A concurrency key with its own weight. */
export type KeyWeight = KeyWeightResponse;

/** Paging for key weights. */
export interface ListKeyWeightsParams {
  /** Keys per page: 1 to 1,000. Default 100. */
  limit?: number;
  /** Start after this cursor. */
  after?: string;
}

/**
 * The concurrency keys with their own weights, queue by queue: `base` is declared in code, `override` is set with `setKeyWeight`. Await the
 * result for one page, or iterate over it for all later keys.
 *
 * @example
 * for await (const { queue, key, weight } of queues.keyWeights()) console.log(queue, key, weight);
 */
export function keyWeights({ limit, after }: ListKeyWeightsParams = {}): PageList<KeyWeight> {
  const client = currentClient();
  return pages(
    (cursor) =>
      client.call('listKeyWeights', { query: { 'page[size]': limit, 'page[after]': cursor.after } }),
    { after },
  );
}
