import { currentClient } from '../client/current-client.ts';
import { numberedPages, type PageList } from '../client/page.ts';
import { fromWire, type Queue } from './queue.ts';

/** Filters and paging for queues. */
export interface ListQueuesParams {
  /** Starts at 1. Default 1. */
  page?: number;
  /** Queues per page: 1 to 100. Default 25. */
  perPage?: number;
  /** Only queues with this text in their name, case-insensitive. A task's own queue is `task/<id>`. */
  search?: string;
  /** Only paused queues (true), or only queues that are not paused (false). */
  paused?: boolean;
  /** By `name` (default), or with the most waiting (`queued`) or executing (`running`) runs first. */
  sort?: 'name' | 'queued' | 'running';
}

/**
 * Queues of the environment, by name or with the most runs first. Await the result for one page, or iterate over it for that page and all later
 * ones.
 *
 * @example
 * for await (const queue of queues.list()) console.log(queue.name, queue.running, queue.queued);
 *
 * @example
 * const { data } = await queues.list({ sort: 'queued', perPage: 5 });
 */
export function list({
  page: first = 1,
  perPage,
  search,
  paused,
  sort,
}: ListQueuesParams = {}): PageList<Queue> {
  const client = currentClient();
  return numberedPages(first, async (page) => {
    const query = {
      page,
      perPage,
      sort,
      'filter[search]': search,
      ...(paused !== undefined && { 'filter[paused]': paused ? ('true' as const) : ('false' as const) }),
    };
    const { data, pagination } = await client.call('listQueues', { query });
    return { data: data.map(fromWire), pagination };
  });
}
