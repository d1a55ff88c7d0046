import type { ErrorSort, ErrorStatus } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';
import { pages, type PageList } from '../client/page.ts';
import { joined, milliseconds, pageQuery } from '../client/query.ts';
import { fromWire, type ErrorGroup } from './error-group.ts';
import { trendFromWire, type ErrorTrend } from './trend.ts';

/** Filters for error groups. A list matches any of its values; all filters must match. */
export interface ListErrorsParams {
  taskIdentifier?: string | string[];
  /** Worker versions, such as `20261121.3`. */
  version?: string | string[];
  status?: ErrorStatus | ErrorStatus[];
  /** Part of the error's type or message, case-insensitive; at most 1,000 characters. */
  search?: string;
  /** Owners in any case, such as `@payments` or the email address of a member: groups they are responsible for. */
  owner?: string | string[];
  /** A range up to now: a number and s, m, h, d or w, such as `7d`. Takes precedence over `from` and `to`. */
  period?: string;
  /** A date, or milliseconds since 1970. */
  from?: Date | number;
  /** A date, or milliseconds since 1970. */
  to?: Date | number;
  /** Sorts by latest or most frequent first; `count` is the number within the range. Default `lastSeen`. */
  sort?: ErrorSort;
  /** Also return how often each error occurred over this period, in intervals up to now: a number and s, m, h, d or w, such as `24h`. */
  trend?: string;
  /** Groups per page: 1 to 100. Default 25. */
  limit?: number;
  /** Start after this group or cursor. */
  after?: string;
  /** Start before this group or cursor. Takes precedence over `after`. */
  before?: string;
}

/**
 * Error groups, last seen first unless sorted otherwise. Await the result for the first page, or iterate over it for all. Without a time range,
 * covers all time. Throws a BadRequestError whose `details` name an invalid filter.
 *
 * @example
 * for await (const group of errors.list({ status: 'unresolved', period: '7d' })) {
 *   console.log(group.count, group.taskIdentifier, group.errorMessage);
 * }
 *
 * @example
 * const page = await errors.list({ limit: 10 });
 * if (page.hasNextPage()) console.log((await page.getNextPage()).data);
 */
export function list(params: ListErrorsParams = {}): PageList<ErrorGroup & { readonly trend?: ErrorTrend }> {
  const client = currentClient();
  const filters = {
    'page[size]': params.limit,
    'filter[taskIdentifier]': joined(params.taskIdentifier),
    'filter[version]': joined(params.version),
    'filter[status]': joined(params.status),
    'filter[search]': params.search,
    'filter[owner]': joined(params.owner),
    'filter[period]': params.period,
    'filter[from]': milliseconds(params.from),
    'filter[to]': milliseconds(params.to),
    sort: params.sort,
    trend: params.trend,
  };
  return pages(async (cursor) => {
    const query = { ...filters, ...pageQuery(cursor) };
    const { data, pagination } = await client.call('listErrors', { query });
    return {
      data: data.map(({ trend, ...group }) => ({
        ...fromWire(group),
        ...(trend && { trend: trendFromWire(trend) }),
      })),
      pagination,
    };
  }, params);
}
