import type { ShownKeyWeight } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';
import { pages, type PageList } from '../client/page.ts';

/** A concurrency key with a weight of its own. */
export type KeyWeight = ShownKeyWeight;

/** Which page of the weights. */
export interface ListKeyWeightsParams {
  /** Keys a page: 1 to 1,000. Default 100. */
  limit?: number;
  /** Start after this cursor. */
  after?: string;
}

/**
 * The concurrency keys that have a weight of their own, queue by queue: `base` is that of the code, `override` what `setKeyWeight` has set.
 * Await it for one page, or iterate it for all from there on.
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
