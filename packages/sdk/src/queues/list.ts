import { currentClient } from '../client/current-client.ts';
import { pages, type PageList } from '../client/page.ts';
import { fromWire, type Queue } from './queue.ts';

/** Which page of the queues. */
export interface ListQueuesParams {
  /** From 1. Default 1. */
  page?: number;
  /** Queues a page: 1 to 100. Default 25. */
  perPage?: number;
}

/**
 * Queues of the environment, by name. Await it for one page, or iterate it for all from there on.
 *
 * @example
 * for await (const queue of queues.list()) console.log(queue.name, queue.running, queue.queued);
 */
export function list({ page = 1, perPage }: ListQueuesParams = {}): PageList<Queue> {
  const client = currentClient();
  return pages(async ({ after, before }) => {
    const query = { page: after ?? before ?? page, perPage };
    const { data, pagination } = await client.call('listQueues', { query });
    const { currentPage, totalPages } = pagination;
    return {
      data: data.map(fromWire),
      pagination: {
        next: currentPage < totalPages ? String(currentPage + 1) : undefined,
        previous: currentPage > 1 ? String(currentPage - 1) : undefined,
      },
    };
  }, {});
}
