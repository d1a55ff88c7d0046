import type { EventStatus } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';
import { pages, type PageList } from '../client/page.ts';
import { joined, milliseconds, pageQuery } from '../client/query.ts';
import { fromWire, type ListedEvent } from './event.ts';

/** Filters for events. A list matches any of its values; all filters must match. */
export interface ListEventsParams {
  /** Exact names. */
  name?: string | string[];
  status?: EventStatus | EventStatus[];
  /** Stored at or after this time: a date, or milliseconds since 1970. */
  from?: Date | number;
  /** Stored at or before this time. */
  to?: Date | number;
  /** Events per page: 1 to 100. Default 25. */
  limit?: number;
  /** Start after the event with this id. */
  after?: string;
  /** Start before the event with this id. Takes precedence over `after`. */
  before?: string;
}

/**
 * Events of the environment, newest first. Await the result for the first page, or iterate over it for all. Throws a BadRequestError whose
 * `details` name an invalid filter.
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
