import { currentClient } from '../client/current-client.ts';
import { pages, type PageList } from '../client/page.ts';
import { codecOf } from '../sealing/codec.ts';
import { openLine } from '../sealing/lines.ts';
import { dated, filterQuery, type FoundLog, type LogFilter } from './filter.ts';

export interface SearchLogsParams extends LogFilter {
  from?: Date;
  to?: Date;
  /** Written in the last, such as `1h`. Wins over `from` and `to`. Default: all lines that are stored. */
  period?: string;
  /** Lines a page: 1 to 1,000. Default 100. A page of a long search may have fewer, and still a next one. */
  limit?: number;
  /** Start after this place, as `next` of a page gave it. */
  after?: string;
}

/**
 * Finds lines that runs wrote, newest first. Await it for the first page, or iterate it for all lines.
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
