import type { ErrorStatus } from '@millrace/contract';
import type { Fragment, Queryable } from '../../db/connect.ts';
import { lapsed } from './detail.ts';
import { countIn, ownConditions, says, type ErrorFilter } from './filters.ts';
import { sampleMessage } from './sample.ts';
import { all, ordered, orders, type Position, type Sort } from './order.ts';

export interface GroupRow {
  readonly id: string;
  readonly fingerprint: string;
  readonly task: string;
  readonly type: string;
  readonly message: string;
  readonly sample: string | null;
  readonly status: ErrorStatus;
  readonly lapsed: boolean;
  /** Occurrences in the range of the filter. */
  readonly count: number;
  readonly first_seen: Date;
  readonly last_seen: Date;
  readonly resolved_at: Date | null;
  readonly ignored_until: Date | null;
}

/** A row, with its slot in the order in which it was found. */
export interface SlotRow extends GroupRow {
  readonly slot: Date | number;
}

export interface PageRequest {
  readonly sort: Sort;
  /** The page begins after this position. */
  readonly position: Position | undefined;
  /** The page ends before the position, with the nearest group first. */
  readonly backward: boolean;
  readonly limit: number;
}

interface Candidates {
  /** The candidate groups, in order. */
  readonly groups: Fragment;
  /** Conditions in addition to those of the filter on the groups' rows. */
  readonly conditions: readonly Fragment[];
}

interface FetchedPage {
  readonly fetched: number;
  /** How many of the groups contain the search text. */
  readonly matching: number;
  readonly rows: SlotRow[];
}

/** Fetches groups in order and collects matching ones until there are enough. */
export async function fetchPage(
  sql: Queryable,
  filter: ErrorFilter,
  { sort, backward, limit }: PageRequest,
  { groups, conditions }: Candidates,
): Promise<FetchedPage> {
  const isMatching = filter.search === '' ? sql`true` : says(sql, sql`g`, filter.search);
  const rows = await sql<(SlotRow & { fetched: number; matching: number })[]>`
    with nearest as materialized (${groups}),
    found as (
      select g.id, g.fingerprint, g.task, g.type, g.message, ${sampleMessage(sql)} as sample, g.status, ${lapsed(sql, filter.now)} as lapsed,
             (${countIn(sql, filter)})::float8 as count, g.first_seen, g.last_seen, g.resolved_at, g.ignored_until,
             g.seen_slot, g.total_slot, g.total,
             ${orders[sort].slot(sql)} as slot
        from (select g.* from nearest g
               where ${all(sql, [sql`true`, ...ownConditions(sql, filter), ...conditions])} limit ${limit}) g
    )
    select n.fetched, n.matching, g.*
      from (select count(*)::int as fetched, count(*) filter (where ${isMatching})::int as matching from nearest g) n
      left join found g on true order by ${ordered(sql, sort, backward)}`;
  const { fetched = 0, matching = 0 } = rows[0] ?? {};
  return { fetched, matching, rows: rows.filter((row) => row.id !== null) };
}
