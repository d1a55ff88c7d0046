import type { ErrorStatus } from '@millrace/contract';
import type { Fragment, Queryable } from '../db/connect.ts';
import { lapsed } from './detail.ts';
import { countIn, occurred, ownConditions, type ErrorFilter } from './filters.ts';

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

/** A place in the list: last seen, newest first, then id. */
export interface Place {
  readonly id: string;
  readonly lastSeen: Date;
}

export interface Wanted {
  /** Where to begin; the group there is not included. */
  readonly place: Place | undefined;
  /** From the place towards the newest, nearest first. */
  readonly backward: boolean;
  readonly most: number;
}

const nearby = 1_000;
const farther = 20_000;

/** So many can be fetched and sorted at once. */
const few = 3_000;
const shortestIndexedSearch = 3;

/**
 * The groups that pass the filter, in the order of the list. Walking from the place on finds them soon unless few pass; then an
 * index that leads to those few is asked. So a page costs about the same wherever it is, and however long the history.
 */
export async function findGroups(sql: Queryable, filter: ErrorFilter, wanted: Wanted): Promise<GroupRow[]> {
  const bounds = all(sql, [sql`g.env = ${filter.env}`, ...bound(sql, filter), ...beyond(sql, wanted)]);
  const lookIn = (groups: Fragment, limit: number | null) =>
    look(
      sql,
      filter,
      wanted,
      sql`select g.* from ${groups} g where ${bounds} order by ${order(sql, wanted.backward)} limit ${limit}`,
    );

  const ranged = await fewInRange(sql, filter);
  if (ranged) return (await lookIn(ranged.source, null)).rows;
  const near = await lookIn(sql`error_groups`, nearby);
  if (near.rows.length >= wanted.most || near.looked < nearby) return near.rows;
  const chosen = (await fewOnTheirOwn(sql, filter)) ?? (await fewOfVersions(sql, filter));
  if (chosen) return (await lookIn(chosen.source, null)).rows;
  const far = await lookIn(sql`error_groups`, farther);
  if (far.rows.length >= wanted.most || far.looked < farther) return far.rows;
  return (await lookIn(sql`error_groups`, null)).rows;
}

/** Takes from groups in order those that pass, until there are enough. */
async function look(sql: Queryable, filter: ErrorFilter, { most, backward }: Wanted, groups: Fragment) {
  const conditions = all(sql, [sql`true`, ...ownConditions(sql, filter), ...occurred(sql, filter)]);
  const rows = await sql<(GroupRow & { looked: number })[]>`
    with nearest as materialized (${groups}),
    found as (
      select g.id, g.fingerprint, g.task, g.type, g.message, g.status, ${lapsed(sql, filter.now)} as lapsed,
             (${countIn(sql, filter)})::float8 as count, g.first_seen, g.last_seen, g.resolved_at, g.ignored_until,
             g.seen_slot
        from (select g.* from nearest g where ${conditions} limit ${most}) g
    )
    select (select count(*)::int from nearest) as looked, g.*
      from (select) one left join found g on true order by ${order(sql, backward)}`;
  return { looked: rows[0]?.looked ?? 0, rows: rows.filter((row) => row.id !== null) };
}

/** Groups from an index that leads to few of them. In an object, because a fragment that is awaited would be sent. */
interface Few {
  readonly source: Fragment;
}

/** A range in the past with few occurrences in it. One up to now needs no help: who was seen last is first on the walk. */
async function fewInRange(sql: Queryable, { env, range, now }: ErrorFilter): Promise<Few | undefined> {
  const { from, to, hourly } = range;
  if (from === null || to === null || to >= now) return undefined;
  const occurrences = sql`
    select o.group_id from error_occurrences o where o.env = ${env} and o.at >= ${from} and o.at <= ${to}`;
  const tallies = sql`
    select t.group_id from error_tallies t
     where t.env = ${env} and t.version = 0 and t.at >= ${from} and t.at <= ${to}`;
  const ids = hourly ? sql`(${occurrences} union all ${tallies})` : sql`(${occurrences})`;
  return (await isFew(sql, ids)) ? { source: byIds(sql, env, ids) } : undefined;
}

/** By one of the filters on the groups themselves; the others are applied to what it leaves. */
async function fewOnTheirOwn(sql: Queryable, filter: ErrorFilter): Promise<Few | undefined> {
  const search = filter.search.length < shortestIndexedSearch ? '' : filter.search;
  for (const condition of ownConditions(sql, { ...filter, search })) {
    const source = sql`(select g.* from error_groups g where g.env = ${filter.env} and ${condition} offset 0)`;
    if (await isFew(sql, source)) return { source };
  }
  return undefined;
}

async function fewOfVersions(
  sql: Queryable,
  { env, versions, range }: ErrorFilter,
): Promise<Few | undefined> {
  if (versions === null) return undefined;
  const from = range.from ?? '-infinity';
  const to = range.to ?? 'infinity';
  const ids = sql`(
    select v.group_id from error_versions v
     where v.env = ${env} and v.version = any(${versions})
       and v.seen_day > ${from}::timestamptz - interval '1 day' and v.first_seen <= ${to})`;
  return (await isFew(sql, ids)) ? { source: byIds(sql, env, ids) } : undefined;
}

async function isFew(sql: Queryable, rows: Fragment): Promise<boolean> {
  const [row] = await sql<{ few: boolean }[]>`
    select count(*) <= ${few} as few from (select from ${rows} r limit ${few + 1}) r`;
  return row?.few ?? false;
}

/** `offset 0` keeps PostgreSQL from walking all groups in order after all. */
const byIds = (sql: Queryable, env: number, ids: Fragment): Fragment =>
  sql`(select g.* from (select distinct group_id from ${ids} i) i
         join error_groups g on g.env = ${env} and g.id = i.group_id offset 0)`;

const all = (sql: Queryable, conditions: readonly Fragment[]): Fragment =>
  conditions.reduce((every, next) => sql`${every} and ${next}`);

// The index is on the slot of last_seen, which changes less often; within a slot rows are sorted as they come.
function beyond(sql: Queryable, { place, backward }: Wanted): Fragment[] {
  if (place === undefined) return [];
  const { id, lastSeen } = place;
  return backward
    ? [
        sql`g.seen_slot >= date_bin('10 seconds', ${lastSeen}::timestamptz, 'epoch')`,
        sql`(g.last_seen > ${lastSeen} or (g.last_seen = ${lastSeen} and g.id < ${id}))`,
      ]
    : [
        sql`g.seen_slot <= date_bin('10 seconds', ${lastSeen}::timestamptz, 'epoch')`,
        sql`(g.last_seen < ${lastSeen} or (g.last_seen = ${lastSeen} and g.id > ${id}))`,
      ];
}

/** Where the walk ends at the latest: groups that were not seen since have nothing in the range. */
const bound = (sql: Queryable, { range: { from } }: ErrorFilter): Fragment[] =>
  from === null ? [] : [sql`g.seen_slot >= date_bin('10 seconds', ${from}::timestamptz, 'epoch')`];

const order = (sql: Queryable, backward: boolean): Fragment =>
  backward
    ? sql`g.seen_slot asc, g.last_seen asc, g.id desc`
    : sql`g.seen_slot desc, g.last_seen desc, g.id asc`;
