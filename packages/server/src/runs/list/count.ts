import type { Operations, Reply } from '@millrace/contract';
import { maxCounted } from '@millrace/contract';
import type { Queryable } from '../../db/connect.ts';
import { findRuns } from './find.ts';
import { rangeEnds } from './list.ts';
import { readFilter, type ListRunsQuery } from './read-filter.ts';

/** How many runs a list would have. Counting stops at a limit, or if the filters rarely overlap; the result indicates this. */
export async function countRuns(
  sql: Queryable,
  envs: readonly number[],
  query: ListRunsQuery,
  now: number,
): Promise<Reply<Operations['countRuns']>> {
  const filter = await readFilter(sql, envs, query, now);
  if (filter === undefined) return { count: 0, isExact: true };
  const { runs, edge } = await findRuns(sql, filter, {
    ...rangeEnds(filter),
    backward: false,
    limit: maxCounted + 1,
  });
  return {
    count: Math.min(runs.length, maxCounted),
    isExact: runs.length <= maxCounted && edge === undefined,
  };
}
