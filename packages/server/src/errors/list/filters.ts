import type { ErrorStatus } from '@millrace/contract';
import type { Fragment, Queryable } from '../../db/connect.ts';
import { ownedBy, type OwnerFilter } from '../ownership/filter.ts';
import { lapsed } from './detail.ts';
import type { Range } from '../counts/range.ts';

/** The filter of a list of groups. An empty list of tasks or statuses does not filter. `versions` has the ids of existing versions. */
export interface ErrorFilter {
  readonly env: number;
  readonly tasks: readonly string[];
  readonly statuses: readonly ErrorStatus[];
  readonly search: string;
  readonly versions: readonly number[] | null;
  readonly range: Range;
  readonly now: Date;
  readonly owners?: OwnerFilter;
}

/** Whether counts are for a range or some versions rather than totals. */
export const isCounted = ({ versions, range }: ErrorFilter): boolean =>
  versions !== null || range.from !== null || range.to !== null;

/** The conditions that depend only on the group's row `g`. */
export function ownConditions(
  sql: Queryable,
  { tasks, statuses, search, now, owners }: ErrorFilter,
): Fragment[] {
  const conditions: Fragment[] = [];
  if (tasks.length > 0) conditions.push(sql`g.task = any(${tasks})`);
  if (statuses.length > 0) conditions.push(statusIn(sql, new Set(statuses), now));
  if (owners) conditions.push(ownedBy(sql, owners));
  if (search !== '') conditions.push(says(sql, sql`g`, search));
  return conditions;
}

/** The texts `x` that match a search, in a form that uses the indexes. Texts shorter than a trigram have a separate index. */
export const saysText = (sql: Queryable, search: string): Fragment =>
  Array.from(search).length < 3
    ? sql`error_grams(x.type, x.message) @> array[lower(${search}::text)]`
    : says(sql, sql`x`, search);

/** Whether a row contains a text. */
export function says(sql: Queryable, row: Fragment, search: string): Fragment {
  const pattern = `%${search.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
  return sql`(${row}.type ilike ${pattern} or ${row}.message ilike ${pattern})`;
}

function statusIn(sql: Queryable, statuses: ReadonlySet<ErrorStatus>, now: Date): Fragment {
  const ended = lapsed(sql, now);
  const words: Readonly<Record<ErrorStatus, Fragment>> = {
    // The first of these two terms matches the partial index of groups that are not unresolved.
    resolved: sql`(g.status <> 'unresolved' and g.status = 'resolved')`,
    ignored: sql`(g.status <> 'unresolved' and g.status = 'ignored' and not ${ended})`,
    unresolved: sql`(g.status = 'unresolved' or ${ended})`,
  };
  return [...statuses].map((status) => words[status]).reduce((some, next) => sql`(${some} or ${next})`);
}

/** Whether a group has an occurrence in the range, of one of the versions. */
export function occurred(sql: Queryable, { versions, range }: ErrorFilter): Fragment[] {
  if (versions !== null) {
    return [
      has(
        sql,
        sql`
          error_fingerprints f
          join error_versions v on v.env = f.env and v.fingerprint_id = f.id and v.version = any(${versions})
         where f.env = g.env and f.group_id = g.id and ${spans(sql, sql`v`, range)}
           and (${endsInside(sql, sql`v`, range)} or ${tallied(sql, range, sql`t.version = v.version`)})`,
      ),
    ];
  }
  if (range.from === null && range.to === null) return [];
  const inside = has(
    sql,
    sql`
      error_fingerprints f
     where f.env = g.env and f.group_id = g.id and ${tallied(sql, range, sql`true`)}`,
  );
  // A group that was seen before and after the range may not have occurred in it.
  return [spans(sql, sql`g`, range), sql`(${endsInside(sql, sql`g`, range)} or ${inside})`];
}

/** Like `exists`, but looked up row by row: the planner would otherwise join all rows. */
const has = (sql: Queryable, rows: Fragment): Fragment =>
  sql`coalesce((select true from ${rows} limit 1), false)`;

const tallied = (sql: Queryable, { from, to }: Range, more: Fragment): Fragment =>
  has(
    sql,
    sql`
      error_tallies t
     where t.env = f.env and t.fingerprint_id = f.id and ${more}
       and ${from === null ? sql`true` : sql`t.at >= ${from}`} and ${to === null ? sql`true` : sql`t.at <= ${to}`}`,
  );

/** Whether a row was seen before the end of the range, and after its beginning. */
export const spans = (sql: Queryable, row: Fragment, { from, to }: Range) =>
  sql`${from === null ? sql`true` : sql`${row}.last_seen >= ${from}`}
      and ${to === null ? sql`true` : sql`${row}.first_seen <= ${to}`}`;

const endsInside = (sql: Queryable, row: Fragment, { from, to }: Range) =>
  sql`(${from === null ? sql`true` : sql`${row}.first_seen >= ${from}`}
      or ${to === null ? sql`true` : sql`${row}.last_seen <= ${to}`})`;

const isInside = (sql: Queryable, { from, to }: Range) =>
  sql`${from === null ? sql`true` : sql`g.first_seen >= ${from}`}
      and ${to === null ? sql`true` : sql`g.last_seen <= ${to}`}`;

/** How many occurrences a group has in the range and the versions. */
export function countIn(sql: Queryable, { versions, range }: ErrorFilter): Fragment {
  if (versions !== null) {
    const until = (at: Date) => sql`
      select t.version_total from error_tallies t
       where t.env = v.env and t.fingerprint_id = v.fingerprint_id and t.version = v.version and t.at <= ${at}
       order by t.at desc limit 1`;
    return sql`(
      select coalesce(sum(${countOf(sql, sql`v`, range, until)}), 0)
        from error_fingerprints f
        join error_versions v on v.env = f.env and v.fingerprint_id = f.id and v.version = any(${versions})
       where f.env = g.env and f.group_id = g.id)`;
  }
  if (range.from === null && range.to === null) return sql`g.total`;
  return sql`(
    case when ${isInside(sql, range)} then g.total else (
      select coalesce(sum(${countOf(sql, sql`f`, range, (at) => totalAt(sql, at))}), 0) from error_fingerprints f
       where f.env = g.env and f.group_id = g.id) end)`;
}

/** How often a fingerprint `f` had occurred by a given time; null for never. */
const totalAt = (sql: Queryable, at: Fragment | Date): Fragment => sql`
  select t.total from error_tallies t
   where t.env = f.env and t.fingerprint_id = f.id and t.at <= ${at} order by t.at desc, t.version desc limit 1`;

/** How often a group had occurred at each of many times `b.at`. */
export const groupTotalAt = (sql: Queryable): Fragment => sql`(
  select coalesce(sum((${totalAt(sql, sql`b.at`)})), 0) from error_fingerprints f
   where f.env = g.env and f.group_id = g.id)`;

/** Tallies are read only for rows that were seen both before and after a boundary of the range. */
function countOf(
  sql: Queryable,
  row: Fragment,
  { from, to }: Range,
  until: (at: Date) => Fragment,
): Fragment {
  const upTo =
    to === null
      ? sql`${row}.total`
      : sql`case when ${row}.last_seen <= ${to} then ${row}.total
                 when ${row}.first_seen > ${to} then 0 else coalesce((${until(to)}), 0) end`;
  // `at` has whole milliseconds.
  const before = from === null ? null : new Date(from.getTime() - 1);
  return from === null || before === null
    ? upTo
    : sql`(${upTo}) - (case when ${row}.first_seen >= ${from} then 0
                            when ${row}.last_seen < ${from} then ${row}.total
                            else coalesce((${until(before)}), 0) end)`;
}
