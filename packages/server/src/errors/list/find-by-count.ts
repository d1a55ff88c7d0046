import type { Fragment, Queryable } from '../../db/connect.ts';
import { byGroup, occurrencesIn, spansOf } from '../counts/in-range.ts';
import { lapsed } from './detail.ts';
import type { GroupRow, PageRequest } from './fetch-page.ts';
import { ownConditions, says, type ErrorFilter } from './filters.ts';
import { all, type Position } from './order.ts';

/**
 * The matching groups, in the order of their counts in the filter's range, then of their numbers. No index has that order, so the counts of
 * all groups are added up from roll-ups.
 */
export async function findByCount(
  sql: Queryable,
  filter: ErrorFilter,
  { position, backward, limit }: PageRequest,
): Promise<GroupRow[]> {
  const { env, now } = filter;
  const spans = await spansOf(sql, filter);
  if (!spans) return [];
  // Large enough for a sum per fingerprint, so that the sums are not written to disk.
  await sql`set local work_mem = '64MB'`;
  const order = (row: Fragment): Fragment =>
    backward ? sql`${row}.count asc, ${row}.number desc` : sql`${row}.count desc, ${row}.number asc`;
  return sql<GroupRow[]>`
    with counts as materialized (${byGroup(sql, env, occurrencesIn(sql, filter, spans.range, spans.all))}),
    page as (
      select c.number, c.count from counts c
       where ${all(sql, [beyondCount(sql, position, backward), ...passing(sql, filter)])}
       order by ${order(sql`c`)} limit ${limit}
    )
    select g.id, g.fingerprint, g.task, g.type, g.message, g.status, ${lapsed(sql, now)} as lapsed, p.count,
           g.first_seen, g.last_seen, g.resolved_at, g.ignored_until
      from page p
     cross join lateral (
       select g.* from error_fingerprints f join error_groups g on g.env = f.env and g.id = f.own_group
        where f.id = p.number limit 1) g
     order by ${order(sql`p`)}`;
}

/** The groups before or after a group whose number is the key of the position. A group without occurrences in the range has the count 0. */
function beyondCount(sql: Queryable, position: Position | undefined, backward: boolean): Fragment {
  if (position === undefined) return sql`true`;
  const number = sql`${Number(position.key)}::int`;
  const count = sql`coalesce((select own.count from counts own where own.number = ${number}), 0)`;
  return backward
    ? sql`(c.count > ${count} or (c.count = ${count} and c.number < ${number}))`
    : sql`(c.count < ${count} or (c.count = ${count} and c.number > ${number}))`;
}

/**
 * The conditions of the filter that do not depend on the range, for the numbers of groups. Texts are compared rather than looked up by
 * trigram, because rechecking costs more if many groups have a trigram.
 */
function passing(sql: Queryable, filter: ErrorFilter): Fragment[] {
  const { env, search } = filter;
  const own = ownConditions(sql, { ...filter, search: '' });
  const groups = sql`select g.number from error_groups g where ${all(sql, [sql`g.env = ${env}`, ...own])}`;
  const texts = sql`select x.number from error_texts x where x.env = ${env} and ${says(sql, sql`x`, search)}`;
  return [...(own.length === 0 ? [] : [among(sql, groups)]), ...(search === '' ? [] : [among(sql, texts)])];
}

/**
 * In this form the numbers are hashed. A plain `in` becomes a join, which the planner may nest, because it cannot estimate the number of
 * counts.
 */
const among = (sql: Queryable, numbers: Fragment): Fragment => sql`coalesce(c.number in (${numbers}), false)`;
