import type { SessionStatus } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';
import { pages, type PageList } from '../client/page.ts';
import { joined, milliseconds, pageQuery } from '../client/query.ts';
import { fromWire, type ListedSession } from './session.ts';

/** Filters for sessions. A list matches any of its values; all filters must match. */
export interface ListSessionsParams {
  type?: string | string[];
  /** With any of these tags. */
  tag?: string | string[];
  taskIdentifier?: string | string[];
  externalId?: string;
  status?: SessionStatus | SessionStatus[];
  /** A range up to now, such as `7d`. Takes precedence over `from` and `to`. */
  period?: string;
  /** Started at or after this time: a date, or milliseconds since 1970. */
  from?: Date | number;
  /** Started at or before this time. */
  to?: Date | number;
  /** Sessions per page: 1 to 100. Default 20. */
  limit?: number;
  /** Start after the session with this id. */
  after?: string;
  /** Start before the session with this id. */
  before?: string;
}

/**
 * Sessions of the environment, newest first. Await the result for the first page, or iterate over it for all.
 *
 * @example
 * for await (const { id, externalId } of sessions.list({ status: 'ACTIVE' })) console.log(id, externalId);
 */
export function list(params: ListSessionsParams = {}): PageList<ListedSession> {
  const client = currentClient();
  const filters = {
    'page[size]': params.limit,
    'filter[type]': joined(params.type),
    'filter[tags]': joined(params.tag),
    'filter[taskIdentifier]': joined(params.taskIdentifier),
    'filter[externalId]': params.externalId,
    'filter[status]': joined(params.status),
    'filter[createdAt][period]': params.period,
    'filter[createdAt][from]': milliseconds(params.from),
    'filter[createdAt][to]': milliseconds(params.to),
  };
  return pages(async (cursor) => {
    const query = { ...filters, ...pageQuery(cursor) };
    const { data, pagination } = await client.call('listSessions', { query });
    return { data: data.map((session) => fromWire(session)), pagination };
  }, params);
}
