import { currentClient } from '../client/current-client.ts';
import { pages, type PageList } from '../client/page.ts';
import { joined, milliseconds, pageQuery } from '../client/query.ts';
import { fromWire, type WaitpointToken } from './token.ts';

/** Filters for tokens. A list matches any of its values; all filters must match. */
export interface ListTokensParams {
  status?: WaitpointToken['status'] | WaitpointToken['status'][];
  tags?: string | string[];
  idempotencyKey?: string;
  /** A range up to now: a number and s, m, h, d or w. Takes precedence over `from` and `to`. */
  period?: string;
  /** Created at or after this time: a date, or milliseconds since 1970. */
  from?: Date | number;
  /** Created at or before this time: a date, or milliseconds since 1970. */
  to?: Date | number;
  /** Tokens per page: 1 to 100. Default 25. */
  limit?: number;
  /** Start after this token. */
  after?: string;
  /** Start before this token. Takes precedence over `after`. */
  before?: string;
}

/**
 * Tokens of the environment, newest first. Await the result for one page, or iterate over it for that page and all later ones.
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
