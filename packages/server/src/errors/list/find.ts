import type { Queryable } from '../../db/connect.ts';
import { isCounted, occurred, type ErrorFilter } from './filters.ts';
import { findMost } from './find-by-count.ts';
import { fetchPage, type GroupRow, type Wanted } from './fetch-page.ts';
import { common, few, prefilterBySearch, prefilterByState } from './prefilter.ts';
import { beyond, ordered } from './order.ts';
import { byGroup } from '../packed/by-group.ts';
import { countsIn } from '../packed/read.ts';
import { inScan, scanIndex } from './scan-index.ts';

/** So many are fetched at before it is asked which could pass. */
const nearby = 300;

/**
 * The groups that pass the filter, in the order of the list. Walking from the position on finds them soon unless few pass; then it is
 * asked which could, and only those are fetched at. So a page costs about the same wherever it is, and however long the history.
 */
export async function findGroups(sql: Queryable, filter: ErrorFilter, wanted: Wanted): Promise<GroupRow[]> {
  const { sort, position, backward, limit } = wanted;
  if (sort === 'count' && isCounted(filter)) return findMost(sql, filter, wanted);
  const near = await fetchPage(sql, filter, wanted, {
    groups: sql`
      select g.* from error_groups g where ${inScan(sql, filter, wanted)} and ${beyond(sql, sort, position, backward)}
       order by ${ordered(sql, sort, backward)} limit ${nearby}`,
    conditions: occurred(sql, filter),
  });
  if (near.rows.length >= limit || near.fetched < nearby) return near.rows;
  let passing = await prefilterByState(sql, filter, await occurredIn(sql, filter));
  if (filter.search !== '' && !(passing && passing.length <= few)) {
    // A text that is common nearby may be rare among those that could pass: then the index is asked after all.
    const maxFetched = 3 * limit * (near.fetched / near.said);
    const rows = near.said >= common && (await scanIndex(sql, filter, wanted, { passing, maxFetched }));
    if (rows) return rows;
    passing = await prefilterBySearch(sql, filter, passing);
  }
  return (await scanIndex(sql, filter, wanted, { passing, maxFetched: Number.POSITIVE_INFINITY })) ?? [];
}

/** Numbers of the groups that have occurrences in the range, of the versions; undefined if that is no question. */
async function occurredIn(sql: Queryable, filter: ErrorFilter): Promise<Int32Array | undefined> {
  const { env, versions, range } = filter;
  if (!isCounted(filter)) return undefined;
  return (await byGroup(sql, env, await countsIn(sql, env, versions, range))).fingerprints;
}
