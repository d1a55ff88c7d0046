import type { Queryable } from '../../db/connect.ts';
import { lapsed } from './detail.ts';
import { ownConditions, type ErrorFilter } from './filters.ts';
import type { GroupRow, Wanted } from './fetch-page.ts';
import { common, few, prefilterBySearch, prefilterByState } from './prefilter.ts';
import { all } from './order.ts';
import { byGroup } from '../packed/by-group.ts';
import { only, type Counts } from '../packed/counts.ts';
import { nextOf, type CountPosition } from '../packed/next-of.ts';
import { countsIn } from '../packed/read.ts';

/** So many are looked at before indexes are asked that may lead to few. */
const nearby = 300;
const farther = [3_000, 20_000, Number.POSITIVE_INFINITY];

/**
 * The groups that pass the filter, in the order of their counts in its range. No index has that order: all are counted, from packs,
 * and those looked at that are next.
 */
export async function findMost(
  sql: Queryable,
  filter: ErrorFilter,
  { position: cursor, backward, limit }: Wanted,
): Promise<GroupRow[]> {
  const { env, versions, range } = filter;
  const counts = await byGroup(sql, env, await countsIn(sql, env, versions, range));
  const filtered = ownConditions(sql, filter).length > 0;
  let left = counts;
  let position = cursor && positionOf(counts, Number(cursor.key));
  const rows: GroupRow[] = [];
  /** Looks at the next ones; returns whether there may be more to find. */
  const fetch = async (many: number): Promise<boolean> => {
    const next = nextOf(left, position, backward, many);
    position = next.at(-1);
    rows.push(...(await rowsOf(sql, filter, next, limit - rows.length)));
    return rows.length < limit && next.length === many;
  };
  if (!(await fetch(filtered ? nearby : limit))) return rows;
  // Where many pass, the rest of the page is not far.
  if (
    rows.length >= common &&
    !(await fetch(Math.ceil(((limit - rows.length) / rows.length) * nearby * 1.5)))
  )
    return rows;
  const byState = await prefilterByState(sql, filter, counts.fingerprints);
  const passing =
    filter.search === '' || (byState && byState.length <= few)
      ? byState
      : await prefilterBySearch(sql, filter, byState);
  if (passing) left = only(counts, passing);
  for (const many of farther) if (!(await fetch(many))) break;
  return rows;
}

const positionOf = ({ fingerprints, counts }: Counts, number: number): CountPosition => {
  const at = fingerprints.indexOf(number);
  return { fingerprint: number, count: at < 0 ? 0 : (counts[at] as number) };
};

/** Those of the groups that pass what their rows alone decide, in the same order. */
async function rowsOf(
  sql: Queryable,
  filter: ErrorFilter,
  next: readonly CountPosition[],
  limit: number,
): Promise<GroupRow[]> {
  const conditions = all(sql, [sql`true`, ...ownConditions(sql, filter)]);
  return sql<GroupRow[]>`
    select g.id, g.fingerprint, g.task, g.type, g.message, g.status, ${lapsed(sql, filter.now)} as lapsed, n.count,
           g.first_seen, g.last_seen, g.resolved_at, g.ignored_until
      from unnest(${next.map(({ fingerprint }) => fingerprint)}::int[], ${next.map(({ count }) => count)}::float8[])
           with ordinality as n (number, count, ix)
     cross join lateral (
       select g.* from error_fingerprints f join error_groups g on g.env = f.env and g.id = f.own_group
        where f.id = n.number limit 1) g
     where ${conditions}
     order by n.ix limit ${limit}`;
}
