import type { ErrorStatus } from '@millrace/contract';
import type { Fragment, Queryable } from '../db/connect.ts';
import { lapsed } from './detail.ts';
import { countIn, ownConditions, type ErrorFilter } from './filters.ts';
import { all, ordered, type Place, type Sort } from './order.ts';

export interface GroupRow {
  readonly id: string;
  readonly fingerprint: string;
  readonly task: string;
  readonly type: string;
  readonly message: string;
  readonly status: ErrorStatus;
  readonly lapsed: boolean;
  /** Occurrences in the range of the filter. */
  readonly count: number;
  readonly first_seen: Date;
  readonly last_seen: Date;
  readonly resolved_at: Date | null;
  readonly ignored_until: Date | null;
}

export interface Wanted {
  readonly sort: Sort;
  /** Where to begin; the group there is not included. */
  readonly place: Place | undefined;
  /** From the place towards the first, nearest first. */
  readonly backward: boolean;
  readonly most: number;
}

interface Look {
  /** In order. */
  readonly groups: Fragment;
  /** Beside what the filter asks of the groups' rows. */
  readonly conditions: readonly Fragment[];
}

/** Takes from groups in order those that pass, until there are enough. */
export async function look(
  sql: Queryable,
  filter: ErrorFilter,
  { sort, backward, most }: Wanted,
  { groups, conditions }: Look,
): Promise<{ looked: number; rows: GroupRow[] }> {
  const rows = await sql<(GroupRow & { looked: number })[]>`
    with nearest as materialized (${groups}),
    found as (
      select g.id, g.fingerprint, g.task, g.type, g.message, g.status, ${lapsed(sql, filter.now)} as lapsed,
             (${countIn(sql, filter)})::float8 as count, g.first_seen, g.last_seen, g.resolved_at, g.ignored_until,
             g.seen_slot, g.total_slot, g.total
        from (select g.* from nearest g
               where ${all(sql, [sql`true`, ...ownConditions(sql, filter), ...conditions])} limit ${most}) g
    )
    select (select count(*)::int from nearest) as looked, g.*
      from (select) one left join found g on true order by ${ordered(sql, sort, backward)}`;
  return { looked: rows[0]?.looked ?? 0, rows: rows.filter((row) => row.id !== null) };
}
