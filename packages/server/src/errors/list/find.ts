import type { Fragment, Queryable } from '../../db/connect.ts';
import { byGroup, occurrencesIn, spansOf } from '../counts/in-range.ts';
import { fetchPage, type GroupRow, type PageRequest } from './fetch-page.ts';
import { isCounted, occurred, spans, type ErrorFilter } from './filters.ts';
import { findByCount } from './find-by-count.ts';
import { beyond, ordered } from './order.ts';
import { both, common, few, numbersOf, prefilterByState, prefilterBySearch } from './prefilter.ts';
import { inScan, scanIndex } from './scan-index.ts';

/** How many groups are fetched from the position before indexes are used to find candidates. */
const nearby = 300;

/** The maximum range for which finding the groups that occurred in it is cheaper than looking each group up. */
const maxPrefiltered = 3 * 3_600_000;

/**
 * The matching groups, in list order. Fetching from the position finds them quickly unless few match. In that case indexes are used to find
 * the candidates, and only those are fetched. A page therefore costs about the same regardless of its position and the length of the
 * history.
 */
export async function findGroups(
  sql: Queryable,
  filter: ErrorFilter,
  request: PageRequest,
): Promise<GroupRow[]> {
  const { sort, position, backward, limit } = request;
  if (sort === 'count' && isCounted(filter)) return findByCount(sql, filter, request);
  const near = await fetchPage(sql, filter, request, {
    groups: sql`
      select g.* from error_groups g where ${inScan(sql, filter, request)} and ${beyond(sql, sort, position, backward)}
       order by ${ordered(sql, sort, backward)} limit ${nearby}`,
    conditions: occurred(sql, filter),
  });
  if (near.rows.length >= limit || near.fetched < nearby) return near.rows;
  let passing = both(await prefilterByState(sql, filter), await occurredIn(sql, filter));
  if (filter.search !== '' && !(passing && passing.length <= few)) {
    // A text that is common nearby may be rare among the candidates, in which case the index is used after all.
    const maxFetched = 3 * limit * (near.fetched / near.matching);
    const rows = near.matching >= common && (await scanIndex(sql, filter, request, { passing, maxFetched }));
    if (rows) return rows;
    passing = await prefilterBySearch(sql, filter, passing);
  }
  return (await scanIndex(sql, filter, request, { passing, maxFetched: Number.POSITIVE_INFINITY })) ?? [];
}

/**
 * Numbers of the groups that may have occurred in the range and the versions; undefined if any group may have, or if finding them costs
 * more than looking groups up.
 */
async function occurredIn(sql: Queryable, filter: ErrorFilter): Promise<Int32Array | undefined> {
  const { env, versions, range } = filter;
  const inOrder = (occurrences: Fragment): Promise<Int32Array> =>
    numbersOf(sql, sql`select number from (${byGroup(sql, env, occurrences)}) c order by number`);
  if (versions !== null) {
    return inOrder(sql`
      select v.fingerprint_id as id, 1::float8 as n from error_versions v
       where v.env = ${env} and v.version = any(${versions}) and ${spans(sql, sql`v`, range)}`);
  }
  if (range.from === null || (range.to ?? filter.now).getTime() - range.from.getTime() > maxPrefiltered)
    return undefined;
  const found = await spansOf(sql, filter);
  return found ? inOrder(occurrencesIn(sql, filter, found.range, found.all)) : new Int32Array(0);
}
