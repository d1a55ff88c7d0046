import type { ErrorStatus } from '@millrace/contract';
import type { Fragment, Queryable } from '../db/connect.ts';
import { lapsed } from './detail.ts';
import type { Range } from './range.ts';

/** Which groups a list is about. An empty list of words does not filter; `versions` holds the ids of those that exist. */
export interface ErrorFilter {
  readonly env: number;
  readonly tasks: readonly string[];
  readonly statuses: readonly ErrorStatus[];
  readonly search: string;
  readonly versions: readonly number[] | null;
  readonly range: Range;
  readonly now: Date;
}

/** What the row of a group alone decides. `g` is that row. */
export function ownConditions(sql: Queryable, filter: ErrorFilter): Fragment[] {
  const { tasks, statuses, search } = filter;
  const conditions: Fragment[] = [];
  if (tasks.length > 0) conditions.push(sql`g.task = any(${tasks})`);
  if (statuses.length > 0) conditions.push(statusIn(sql, new Set(statuses), filter.now));
  if (search !== '') {
    const pattern = `%${search.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
    conditions.push(sql`(g.type ilike ${pattern} or g.message ilike ${pattern})`);
  }
  return conditions;
}

function statusIn(sql: Queryable, statuses: ReadonlySet<ErrorStatus>, now: Date): Fragment {
  const ended = lapsed(sql, now);
  const words: Readonly<Record<ErrorStatus, Fragment>> = {
    // The first term of these two is what the index of settled groups covers.
    resolved: sql`(g.status <> 'unresolved' and g.status = 'resolved')`,
    ignored: sql`(g.status <> 'unresolved' and g.status = 'ignored' and not ${ended})`,
    unresolved: sql`(g.status = 'unresolved' or ${ended})`,
  };
  return [...statuses].map((status) => words[status]).reduce((some, next) => sql`(${some} or ${next})`);
}

/** Whether a group has an occurrence in the range, of one of the versions. */
export function occurred(sql: Queryable, { versions, range }: ErrorFilter): Fragment[] {
  const { from, to, hourly } = range;
  if (versions !== null) {
    const counted = sql`errors_until(v.env, v.group_id, v.version, ${to})
                        > errors_until(v.env, v.group_id, v.version, ${justBefore(from)})`;
    const kept = sql`exists (select from error_occurrences o where o.env = v.env and o.group_id = v.group_id
                               and o.at >= ${from} and o.at <= ${to} and o.version = v.version)`;
    return [
      sql`exists (
        select from error_versions v
         where v.env = g.env and v.group_id = g.id and v.version = any(${versions})
           and ${spans(sql, sql`v`, range)} and (${endsInside(sql, sql`v`, range)} or ${hourly ? counted : kept}))`,
    ];
  }
  if (from === null && to === null) return [];
  const kept = sql`exists (select from error_occurrences o
                            where o.env = g.env and o.group_id = g.id and o.at >= ${from} and o.at <= ${to})`;
  // The end of an hour with occurrences has a tally; so has no other moment without one.
  const tallied = sql`exists (select from error_tallies t where t.env = g.env and t.group_id = g.id and t.version = 0
                                and t.at >= ${from} and t.at <= ${to})`;
  return [
    spans(sql, sql`g`, range),
    // or it was seen before and after the range, but perhaps not in it
    sql`(${endsInside(sql, sql`g`, range)} or ${hourly ? sql`${tallied} or ${kept}` : kept})`,
  ];
}

const spans = (sql: Queryable, row: Fragment, { from, to }: Range) =>
  sql`${from === null ? sql`true` : sql`${row}.last_seen >= ${from}`}
      and ${to === null ? sql`true` : sql`${row}.first_seen <= ${to}`}`;

const endsInside = (sql: Queryable, row: Fragment, { from, to }: Range) =>
  sql`(${from === null ? sql`true` : sql`${row}.first_seen >= ${from}`}
      or ${to === null ? sql`true` : sql`${row}.last_seen <= ${to}`})`;

/** How many occurrences a group has in the range, of the versions. */
export function countIn(sql: Queryable, { versions, range }: ErrorFilter): Fragment {
  if (versions === null) return countOf(sql, sql`g.env, g.id, 0`, sql`g`, range);
  return sql`(
    select coalesce(sum(${countOf(sql, sql`v.env, v.group_id, v.version`, sql`v`, range)}), 0) from error_versions v
     where v.env = g.env and v.group_id = g.id and v.version = any(${versions}))`;
}

function countOf(sql: Queryable, key: Fragment, row: Fragment, { from, to }: Range): Fragment {
  const upTo =
    to === null
      ? sql`${row}.total`
      : sql`case when ${row}.last_seen <= ${to} then ${row}.total
                 when ${row}.first_seen > ${to} then 0 else errors_until(${key}, ${to}) end`;
  return from === null
    ? upTo
    : sql`(${upTo}) - (case when ${row}.first_seen >= ${from} then 0
                            when ${row}.last_seen < ${from} then ${row}.total
                            else errors_until(${key}, ${justBefore(from)}) end)`;
}

/** `at` has whole milliseconds. */
const justBefore = (from: Date | null): Date | null => from && new Date(from.getTime() - 1);
