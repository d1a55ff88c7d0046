import { currentClient } from '../client/current-client.ts';
import { numberedPages, type PageList } from '../client/page.ts';
import { fromWire, type Queue } from './queue.ts';

/** Which page of the queues. */
export interface ListQueuesParams {
  /** From 1. Default 1. */
  page?: number;
  /** Queues a page: 1 to 100. Default 25. */
  perPage?: number;
  /** Only queues with this text in their name, in upper or lower case. A task's own queue is `task/<id>`. */
  search?: string;
  /** Only queues that are paused, or that are not. */
  paused?: boolean;
  /** `name` (default), or the queues with the most waiting (`queued`) or executing (`running`) runs first. */
  sort?: 'name' | 'queued' | 'running';
}

/**
 * Queues of the environment, by name or with the most runs first. Await it for one page, or iterate it for all from there on.
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
