import type { SessionStatus } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';
import { pages, type PageList } from '../client/page.ts';
import { joined, milliseconds, pageQuery } from '../client/query.ts';
import { fromWire, type ListedSession } from './session.ts';

/** Which sessions. Lists mean any of them; several filters mean all of them. */
export interface ListSessionsParams {
  type?: string | string[];
  /** With any of these tags. */
  tag?: string | string[];
  taskIdentifier?: string | string[];
  externalId?: string;
  status?: SessionStatus | SessionStatus[];
  /** Back from now, such as `7d`. Wins over `from` and `to`. */
  period?: string;
  /** Started then or later: a date, or milliseconds since 1970. */
  from?: Date | number;
  /** Started then or before. */
  to?: Date | number;
  /** Sessions a page: 1 to 100. Default 20. */
  limit?: number;
  /** Start after the session with this id. */
  after?: string;
  /** Start before the session with this id. */
  before?: string;
}

/**
 * Sessions of the environment, newest first. Await it for the first page, or iterate it for all.
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
