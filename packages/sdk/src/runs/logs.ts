import type { Operations, Reply } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';
import { pages, type PageList } from '../client/page.ts';
import { filterQuery, type LogFilter } from '../logs/filter.ts';
import { codecOf } from '../sealing/codec.ts';
import { openLine } from '../sealing/lines.ts';
import { runId, type RunReference } from './run.ts';

type WireLine = Reply<Operations['listRunLogs']>['lines'][number];

/** One line that a run wrote, to the console or through `logger`. */
export type RunLog = Omit<WireLine, 'at'> & { readonly at: Date };

const fromWire = (line: WireLine): RunLog => ({ ...line, at: new Date(line.at) });

/** Filters and paging for a run's log. */
export interface LogOptions extends Omit<LogFilter, 'task'> {
  /** Lines per page: 1 to 1,000. Default 200. */
  limit?: number;
  /** Start after this position, the `next` of an earlier page. */
  after?: string;
}

/**
 * The log lines of a run so far, oldest first. Await the result for the first page, or iterate over it for all lines.
 *
 * @example
 * for await (const line of runs.logs(handle)) console.log(line.at, line.level, line.message);
 */
export function logs(
  run: RunReference,
  { limit, after: first, ...filter }: LogOptions = {},
): PageList<RunLog> {
  const client = currentClient();
  const params = { runId: runId(run) };
  return pages(
    async ({ after }) => {
      const { lines, next } = await client.call('listRunLogs', {
        params,
        query: { ...filterQuery(filter), after, limit },
      });
      return {
        data: await Promise.all(lines.map((line) => openLine(codecOf(client), fromWire(line), params.runId))),
        pagination: { next: next?.toString() },
      };
    },
    { after: first },
  );
}
