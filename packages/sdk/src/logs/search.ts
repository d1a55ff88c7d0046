import { currentClient } from '../client/current-client.ts';
import { pages, type PageList } from '../client/page.ts';
import { codecOf } from '../sealing/codec.ts';
import { openLine } from '../sealing/lines.ts';
import { dated, filterQuery, type FoundLog, type LogFilter } from './filter.ts';

export interface SearchLogsParams extends LogFilter {
  from?: Date;
  to?: Date;
  /** Only lines of this period up to now, such as `1h`. Takes precedence over `from` and `to`. Default: all stored lines. */
  period?: string;
  /** Lines per page: 1 to 1,000. Default 100. A page of a long search may have fewer lines even if more pages follow. */
  limit?: number;
  /** Start after this position, the `next` of an earlier page. */
  after?: string;
}

/**
 * Log lines that match, newest first. Await the result for the first page, or iterate over it for all lines.
 *
 * @example
 * for await (const line of logs.search({ task: 'mail', level: 'error', period: '1h' })) {
 *   console.log(line.at, line.runId, line.message);
 * }
 */
export function search({
  from,
  to,
  period,
  limit,
  after: first,
  ...filter
}: SearchLogsParams = {}): PageList<FoundLog> {
  const client = currentClient();
  return pages(
    async ({ after }) => {
      const { data, pagination } = await client.call('searchLogs', {
        query: {
          ...filterQuery(filter),
          'filter[createdAt][from]': from?.toISOString(),
          'filter[createdAt][to]': to?.toISOString(),
          'filter[createdAt][period]': period,
          'page[size]': limit,
          'page[after]': after,
        },
      });
      const lines = data.map((line) => openLine(codecOf(client), dated(line), line.runId));
      return { data: await Promise.all(lines), pagination };
    },
    { after: first },
  );
}
