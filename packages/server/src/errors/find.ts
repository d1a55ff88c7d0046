import type { ErrorStatus } from '@millrace/contract';
import type { Fragment, Queryable } from '../db/connect.ts';
import { lapsed } from './detail.ts';
import { countIn, occurred, ownConditions, ownSources, type ErrorFilter } from './filters.ts';
import { all, beyond, ordered, type Place, type Sort } from './order.ts';

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

const nearby = 1_000;
/** Walks that follow when the nearest do not fill a page and no index leads to few. */
const farther = [5_000, 20_000, null];

/** So many can be fetched and sorted at once. */
const few = 5_000;

/**
 * The groups that pass the filter, in the order of the list. Walking from the place on finds them soon unless few pass; then an
 * index that leads to those few is asked. So a page costs about the same wherever it is, and however long the history.
 */
export async function findGroups(sql: Queryable, filter: ErrorFilter, wanted: Wanted): Promise<GroupRow[]> {
  const { versions, range } = filter;
  const counted = versions !== null || range.from !== null || range.to !== null;
  const ranged = await fewInRange(sql, filter);
  if (wanted.sort === 'count' && counted) return findMost(sql, filter, wanted, ranged);
  const { sort, place, backward, most } = wanted;
  const order = ordered(sql, sort, backward);
  const bounds = all(sql, [
    sql`g.env = ${filter.env}`,
    sql`g.merged_into is null`,
    ...inRange(sql, filter),
    ...(place === undefined ? [] : beyond(sql, sort, place, backward)),
  ]);
  const lookIn = (groups: Fragment, limit: number | null) =>
    look(sql, filter, {
      order,
      most,
      groups: sql`select g.* from ${groups} g where ${bounds} order by ${order} limit ${limit}`,
    });

  if (ranged) return (await lookIn(groupsOf(sql, filter.env, ranged), null)).rows;
  const near = await lookIn(sql`error_groups`, nearby);
  if (near.rows.length >= most || near.looked < nearby) return near.rows;
  const chosen = (await fewOnTheirOwn(sql, filter)) ?? (await fewOfVersions(sql, filter));
  if (chosen) return (await lookIn(groupsOf(sql, filter.env, chosen), null)).rows;
  for (const limit of farther) {
    const far = await lookIn(sql`error_groups`, limit);
    if (limit === null || far.rows.length >= most || far.looked < limit) return far.rows;
  }
  return near.rows;
}

/**
 * Those with the most occurrences in a range. No index has that order. But none has more there than it ever had: from the top of
 * all time downwards, whoever has been found stands once all others have less at all.
 */
async function findMost(
  sql: Queryable,
  filter: ErrorFilter,
  { place, backward, most }: Wanted,
  ranged: Few | undefined,
): Promise<GroupRow[]> {
  const chosen = ranged ?? (await fewOnTheirOwn(sql, filter)) ?? (await fewOfVersions(sql, filter));
  const bounds = all(sql, [sql`g.env = ${filter.env}`, sql`g.merged_into is null`, ...inRange(sql, filter)]);
  const order = backward ? sql`g.count asc, g.id desc` : sql`g.count desc, g.id asc`;
  const after =
    place === undefined
      ? undefined
      : backward
        ? sql`(g.count > ${place.key} or (g.count = ${place.key} and g.id < ${place.id}))`
        : sql`(g.count < ${place.key} or (g.count = ${place.key} and g.id > ${place.id}))`;
  // Towards the top everything that ever had as many must be looked at.
  const atLeast = backward && place !== undefined ? sql`g.total >= ${place.key}` : sql`true`;
  // Far down the list nobody stands before all have been counted.
  for (const limit of chosen || place ? [null] : [nearby, 20_000, null]) {
    const groups = sql`
      select g.* from ${chosen ? groupsOf(sql, filter.env, chosen) : sql`error_groups`} g where ${bounds} and ${atLeast}
       order by ${ordered(sql, 'count', false)} limit ${limit}`;
    const { rows, looked, least } = await look(sql, filter, {
      order,
      most,
      groups,
      after: after ?? sql`true`,
    });
    const last = rows[most - 1];
    if (limit === null || looked < limit || (last && last.count > least)) return rows;
  }
  return [];
}

interface Look {
  readonly groups: Fragment;
  readonly order: Fragment;
  readonly most: number;
  /** Which of the counted groups; they are put in another order then. */
  readonly after?: Fragment;
}

/** Takes from groups in order those that pass, until there are enough. */
async function look(sql: Queryable, filter: ErrorFilter, { groups, order, most, after }: Look) {
  // Where all are counted, that says whether they occurred.
  const conditions = all(sql, [
    sql`true`,
    ...ownConditions(sql, filter),
    ...(after ? [] : occurred(sql, filter)),
  ]);
  const rows = await sql<(GroupRow & { looked: number; least: number })[]>`
    with nearest as materialized (${groups}),
    found as (
      select g.id, g.fingerprint, g.task, g.type, g.message, g.status, ${lapsed(sql, filter.now)} as lapsed,
             (${countIn(sql, filter)})::float8 as count, g.first_seen, g.last_seen, g.resolved_at, g.ignored_until,
             g.seen_slot, g.total_slot, g.total
        from (select g.* from nearest g where ${conditions} limit ${after ? null : most}) g
    )
    select (select count(*)::int from nearest) as looked, (select min(total)::float8 from nearest) as least, g.*
      from (select) one left join (select g.* from found g where ${after ? sql`g.count > 0 and ${after}` : sql`true`}) g on true
     order by ${order} limit ${most}`;
  const [first] = rows;
  return {
    looked: first?.looked ?? 0,
    least: first?.least ?? 0,
    rows: rows.filter((row) => row.id !== null),
  };
}

/** A range in the past with few tallies in it. One up to now needs no help: who was seen last is first on the walk. */
async function fewInRange(sql: Queryable, { env, range, now }: ErrorFilter): Promise<Few | undefined> {
  const { from, to } = range;
  if (from === null || to === null || to >= now) return undefined;
  return fewOf(
    sql,
    byFingerprints(
      sql,
      sql`select t.fingerprint_id from error_tallies t where t.env = ${env} and t.at >= ${from} and t.at <= ${to}`,
    ),
  );
}

/** By one of the filters on the groups themselves; the others are applied to what it leaves. */
async function fewOnTheirOwn(sql: Queryable, filter: ErrorFilter): Promise<Few | undefined> {
  for (const source of ownSources(sql, filter)) {
    const found = await fewOf(
      sql,
      sql`select array_agg(s.id) as ids, count(*)::int as count from (select * from (${source}) s limit ${few + 1}) s`,
    );
    if (found) return found;
  }
  return undefined;
}

async function fewOfVersions(sql: Queryable, { versions, range }: ErrorFilter): Promise<Few | undefined> {
  if (versions === null) return undefined;
  const from = range.from ?? '-infinity';
  const to = range.to ?? 'infinity';
  return fewOf(
    sql,
    byFingerprints(
      sql,
      sql`
        select v.fingerprint_id from error_versions v
         where v.version = any(${versions}) and v.seen_day > ${from}::timestamptz - interval '1 day'
           and v.first_seen <= ${to}`,
    ),
  );
}

/** Ids of groups. */
type Few = readonly string[];

async function fewOf(sql: Queryable, query: Fragment): Promise<Few | undefined> {
  const [row] = await sql<{ ids: string[] | null; count: number }[]>`${query}`;
  return row && row.count <= few ? (row.ids ?? []) : undefined;
}

const byFingerprints = (sql: Queryable, fingerprints: Fragment): Fragment => sql`
  with i as materialized (select * from (${fingerprints}) i limit ${few + 1})
  select (select array_agg(distinct f.group_id) from error_fingerprints f where f.id = any(array(select distinct fingerprint_id from i))) as ids,
         (select count(*)::int from i) as count`;

/** `offset 0` keeps PostgreSQL from walking all groups in order after all. */
const groupsOf = (sql: Queryable, env: number, ids: Few): Fragment =>
  sql`(select g.* from error_groups g where g.env = ${env} and g.id = any(${ids}::text[]) offset 0)`;

/** Groups that were not seen since, or not yet, have nothing in the range: where walks begin or end at the latest. */
const inRange = (sql: Queryable, { range: { from, to } }: ErrorFilter): Fragment[] => [
  ...(from === null ? [] : [sql`g.seen_slot >= date_bin('10 seconds', ${from}::timestamptz, 'epoch')`]),
  ...(to === null ? [] : [sql`g.first_seen <= ${to}`]),
];
