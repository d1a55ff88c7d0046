import type { EventStatus } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';
import { pages, type PageList } from '../client/page.ts';
import { joined, milliseconds, pageQuery } from '../client/query.ts';
import { fromWire, type ListedEvent } from './event.ts';

/** Which events. Lists mean any of them; several filters mean all of them. */
export interface ListEventsParams {
  /** Whole names. */
  name?: string | string[];
  status?: EventStatus | EventStatus[];
  /** Stored then or later: a date, or milliseconds since 1970. */
  from?: Date | number;
  /** Stored then or before. */
  to?: Date | number;
  /** Events a page: 1 to 100. Default 25. */
  limit?: number;
  /** Start after the event with this id. */
  after?: string;
  /** Start before the event with this id. Wins over `after`. */
  before?: string;
}

/**
 * Events of the environment, newest first. Await it for the first page, or iterate it for all. Throws a BadRequestError whose
 * `details` name a filter that cannot be understood.
 *
 * @example
 * for await (const { id, name } of events.list({ status: 'UNMATCHED' })) console.log(id, name);
 */
export function list(params: ListEventsParams = {}): PageList<ListedEvent> {
  const client = currentClient();
  const filters = {
    'page[size]': params.limit,
    'filter[name]': joined(params.name),
    'filter[status]': joined(params.status),
    'filter[from]': milliseconds(params.from),
    'filter[to]': milliseconds(params.to),
  };
  return pages(async (cursor) => {
    const query = { ...filters, ...pageQuery(cursor) };
    const { data, pagination } = await client.call('listEvents', { query });
    return { data: data.map((event) => fromWire(event)), pagination };
  }, params);
}
