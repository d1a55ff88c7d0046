import type { Fragment, Queryable } from '../db/connect.ts';
import { isCounted, occurred, type ErrorFilter } from './filters.ts';
import { findMost } from './find-most.ts';
import { look, type GroupRow, type Wanted } from './look.ts';
import { few, membership, narrow } from './narrow.ts';
import { all, beyond, fromSlot, ordered, orderedBySlot, orders } from './order.ts';
import { byGroup } from './packed/by-group.ts';
import { int32s, int64s } from './packed/columns.ts';
import { countsIn } from './packed/read.ts';

/** So many are looked at before it is asked which could pass. */
const nearby = 300;
const farther = [20_000, null];

/**
 * The groups that pass the filter, in the order of the list. Walking from the place on finds them soon unless few pass; then it is
 * asked which could, and only those are looked at. So a page costs about the same wherever it is, and however long the history.
 */
export async function findGroups(sql: Queryable, filter: ErrorFilter, wanted: Wanted): Promise<GroupRow[]> {
  const { sort, place, backward, most } = wanted;
  if (sort === 'count' && isCounted(filter)) return findMost(sql, filter, wanted);
  const near = await look(sql, filter, wanted, {
    groups: sql`
      select g.* from error_groups g where ${inWalk(sql, filter, wanted)} and ${beyond(sql, sort, place, backward)}
       order by ${ordered(sql, sort, backward)} limit ${nearby}`,
    conditions: occurred(sql, filter),
  });
  if (near.rows.length >= most || near.looked < nearby) return near.rows;
  const passing = await narrow(sql, filter, await occurredIn(sql, filter));
  for (const limit of passing && passing.length <= few ? [null] : farther) {
    const rows = await findAmong(sql, filter, wanted, { passing, limit });
    if (rows) return rows;
  }
  return near.rows;
}

/** Numbers of the groups that have occurrences in the range, of the versions; undefined if that is no question. */
async function occurredIn(sql: Queryable, filter: ErrorFilter): Promise<Int32Array | undefined> {
  const { env, versions, range } = filter;
  if (!isCounted(filter)) return undefined;
  return (await byGroup(sql, env, await countsIn(sql, env, versions, range))).fingerprints;
}

interface Among {
  /** Numbers of the groups that could pass; undefined if any could. */
  readonly passing: Int32Array | undefined;
  readonly limit: number | null;
}

/** Looks at those of the next `limit` groups that could pass; undefined if they are not enough and more come after them. */
async function findAmong(
  sql: Queryable,
  filter: ErrorFilter,
  wanted: Wanted,
  among: Among,
): Promise<GroupRow[] | undefined> {
  const { sort, place, backward, most } = wanted;
  const { numbers, slots, isAll } = await nextGroups(sql, filter, wanted, among);
  const isPassing = among.passing ? membership(among.passing) : () => true;
  const could: number[] = [];
  numbers.forEach((number, at) => {
    if (isPassing(number)) could.push(at);
  });
  const rows: GroupRow[] = [];
  for (let at = 0, many = most; at < could.length && rows.length < most; many *= 4) {
    // The groups of a slot are in no order yet: they are looked at together.
    let end = Math.min(at + many, could.length);
    while (end < could.length && slots[could[end] as number] === slots[could[end - 1] as number]) end += 1;
    const some = could.slice(at, end).map((one) => numbers[one] as number);
    at = end;
    const groups = sql`
      select g.* from error_fingerprints f join error_groups g on g.env = f.env and g.id = f.own_group
       where f.id = any(${some}::int[]) and g.merged_into is null and ${beyond(sql, sort, place, backward)}
       order by ${ordered(sql, sort, backward)}`;
    const left = { ...wanted, most: most - rows.length };
    rows.push(...(await look(sql, filter, left, { groups, conditions: [] })).rows);
  }
  return rows.length >= most || isAll ? rows : undefined;
}

/** The next `limit` groups by slot, read from the index of the order alone unless few could pass; no part of a slot. */
async function nextGroups(sql: Queryable, filter: ErrorFilter, wanted: Wanted, { passing, limit }: Among) {
  const { sort, backward } = wanted;
  const groups =
    passing && passing.length <= few
      ? sql`(select g.* from error_fingerprints f join error_groups g on g.env = f.env and g.id = f.own_group
              where f.id = any(${[...passing]}::int[]) offset 0)`
      : sql`error_groups`;
  const [next] = await sql<{ count: number; numbers: Buffer | null; slots: Buffer | null }[]>`
    select count(*)::int as count, string_agg(int4send(number), ''::bytea) as numbers,
           string_agg(slot, ''::bytea) as slots
      from (select g.number, ${orders[sort].slotBytes(sql)} as slot from ${groups} g
             where ${inWalk(sql, filter, wanted)} order by ${orderedBySlot(sql, sort, backward)} limit ${limit}) g`;
  const numbers = next?.numbers ? int32s(next.numbers) : new Int32Array(0);
  const slots = next?.slots ? int64s(next.slots) : new BigInt64Array(0);
  const isAll = limit === null || numbers.length < limit;
  const whole = isAll ? numbers.length : slots.indexOf(slots.at(-1) as bigint);
  return { numbers: numbers.subarray(0, whole), slots, isAll };
}

/** Where a walk through the index of the order begins and ends. */
const inWalk = (sql: Queryable, filter: ErrorFilter, { sort, place, backward }: Wanted): Fragment =>
  all(sql, [
    sql`g.env = ${filter.env}`,
    sql`g.merged_into is null`,
    ...inRange(sql, filter, sort),
    fromSlot(sql, sort, place, backward),
  ]);

/** Groups that were not seen since, or not yet, have nothing in the range. */
const inRange = (
  sql: Queryable,
  { range: { from, to } }: ErrorFilter,
  sort: Wanted['sort'],
): readonly Fragment[] => {
  if (sort === 'lastSeen' && from)
    return [sql`g.seen_slot >= date_bin('10 seconds', ${from}::timestamptz, 'epoch')`];
  return sort === 'firstSeen' && to ? [sql`g.first_seen <= ${to}`] : [];
};
