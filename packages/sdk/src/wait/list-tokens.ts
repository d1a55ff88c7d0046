import { currentClient } from '../client/current-client.ts';
import { pages, type PageList } from '../client/page.ts';
import { joined, milliseconds, pageQuery } from '../client/query.ts';
import { fromWire, type WaitpointToken } from './token.ts';

/** Which tokens. Lists mean any of them; several filters mean all of them. */
export interface ListTokensParams {
  status?: WaitpointToken['status'] | WaitpointToken['status'][];
  tags?: string | string[];
  idempotencyKey?: string;
  /** A range back from now: a number and s, m, h, d or w. Wins over `from` and `to`. */
  period?: string;
  /** Created then or later: a date, or milliseconds since 1970. */
  from?: Date | number;
  /** Created then or earlier: a date, or milliseconds since 1970. */
  to?: Date | number;
  /** Tokens a page: 1 to 100. Default 25. */
  limit?: number;
  /** Start after this token. */
  after?: string;
  /** Start before this token. Wins over `after`. */
  before?: string;
}

/**
 * Tokens of the environment, newest first. Await it for one page, or iterate it for all from there on.
 *
 * @example
 * for await (const token of wait.listTokens({ status: 'WAITING' })) console.log(token.id, token.timeoutAt);
 */
export function listTokens(params: ListTokensParams = {}): PageList<WaitpointToken> {
  const client = currentClient();
  return pages(async (cursor) => {
    const query = {
      ...pageQuery(cursor),
      'page[size]': params.limit,
      'filter[status]': joined(params.status),
      'filter[tags]': joined(params.tags),
      'filter[idempotencyKey]': params.idempotencyKey,
      'filter[createdAt][period]': params.period,
      'filter[createdAt][from]': milliseconds(params.from),
      'filter[createdAt][to]': milliseconds(params.to),
    };
    const { data, pagination } = await client.call('listWaitpointTokens', { query });
    return { data: data.map(fromWire), pagination };
  }, params);
}
