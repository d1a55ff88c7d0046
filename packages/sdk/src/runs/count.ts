import { currentClient } from '../client/current-client.ts';
import { filtersOf, type ListRunsParams } from './list.ts';

/** A number of runs. */
export interface RunCount {
  /** At most 10,000. */
  readonly count: number;
  /** False if there are or may be more, because counting stopped at 10,000, or early because few runs match the filters. */
  readonly isExact: boolean;
}

/**
 * The number of runs that `list` would return with the same filters, up to 10,000. Without a time range, covers the last seven days.
 *
 * @example
 * const { count, isExact } = await runs.count({ status: 'FAILED', period: '1d' });
 * console.log(isExact ? count : `${count}+`);
 */
export async function count(
  params: Omit<ListRunsParams, 'limit' | 'after' | 'before'> = {},
): Promise<RunCount> {
  const { 'page[size]': _, 'filter[env]': __, ...query } = filtersOf(params);
  return currentClient().call('countRuns', { query });
}
