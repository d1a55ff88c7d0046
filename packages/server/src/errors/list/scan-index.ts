import type { Fragment, Queryable } from '../../db/connect.ts';
import type { ErrorFilter } from './filters.ts';
import { look, type SlotRow, type Wanted } from './fetch-page.ts';
import { few, membership } from './prefilter.ts';
import { all, beyond, fromSlot, inOrder, ordered, orderedBySlot, orders } from './order.ts';
import { int32s } from '../packed/columns.ts';

/** A walk is made in legs, as most end soon: from which place to which. */
const legs = [
  { from: 0, to: 5_000 },
  { from: 5_000, to: 25_000 },
  { from: 25_000, to: null },
];

export interface Among {
  /** Numbers of the groups that could pass; undefined if any could. */
  readonly passing: Int32Array | undefined;
  /** After so many rows of groups that could pass, but do not, the walk is given up. */
  readonly maxLooked: number;
}

/**
 * Goes through the index of the order, which has the numbers of groups, and looks at the rows of those that could pass. Undefined if it was
 * given up.
 */
export async function walk(
  sql: Queryable,
  filter: ErrorFilter,
  wanted: Wanted,
  { passing, maxLooked }: Among,
): Promise<SlotRow[] | undefined> {
  const { sort, backward, most } = wanted;
  if (passing && passing.length <= few) return rowsAmong(sql, filter, wanted, passing);
  const isPassing = passing ? membership(passing) : () => true;
  const found = new Map<string, SlotRow>();
  const lookAt = async (numbers: Int32Array): Promise<void> => {
    for (const row of await rowsAmong(sql, filter, wanted, numbers)) found.set(row.id, row);
  };
  let looked = 0;
  for (const { from, to } of legs) {
    const limit = to && to - from;
    const next = await numbersOf(
      sql,
      sql`
      select g.number from error_groups g where ${inWalk(sql, filter, wanted)}
       order by ${orderedBySlot(sql, sort, backward)} offset ${from} limit ${limit}`,
    );
    const could = next.filter(isPassing);
    for (let at = 0, many = most; at < could.length; many *= 4) {
      if (looked >= maxLooked) return undefined;
      const some = could.subarray(at, at + Math.min(many, Math.ceil(maxLooked - looked)));
      looked += some.length;
      at += some.length;
      await lookAt(some);
      if (found.size >= most) break;
    }
    if (found.size >= most || limit === null || next.length < limit) break;
  }
  const last = inOrder([...found.values()], sort, backward)[most - 1];
  if (last) {
    // The groups of a slot are in no order there: some of its others may come before this one.
    const sameSlot = await numbersOf(
      sql,
      sql`
      select g.number from error_groups g
       where g.env = ${filter.env} and g.merged_into is null and ${orders[sort].slot(sql)} = ${last.slot}`,
    );
    await lookAt(sameSlot.filter(isPassing));
  }
  return inOrder([...found.values()], sort, backward).slice(0, most);
}

const rowsOf = (sql: Queryable, numbers: Int32Array): Fragment => sql`
  select g.* from error_fingerprints f join error_groups g on g.env = f.env and g.id = f.own_group
   where f.id = any(${[...numbers]}::int[])`;

async function rowsAmong(
  sql: Queryable,
  filter: ErrorFilter,
  wanted: Wanted,
  numbers: Int32Array,
): Promise<SlotRow[]> {
  if (numbers.length === 0) return [];
  const { sort, place, backward } = wanted;
  const groups = sql`
    ${rowsOf(sql, numbers)} and g.merged_into is null and ${beyond(sql, sort, place, backward)}
     order by ${ordered(sql, sort, backward)}`;
  return (await look(sql, filter, wanted, { groups, conditions: [] })).rows;
}

async function numbersOf(sql: Queryable, query: Fragment): Promise<Int32Array> {
  const [row] = await sql<{ numbers: Buffer | null }[]>`
    select string_agg(int4send(number), ''::bytea) as numbers from (${query}) g`;
  return row?.numbers ? int32s(row.numbers) : new Int32Array(0);
}

/** Where a walk through the index of the order begins and ends. */
export const inWalk = (sql: Queryable, filter: ErrorFilter, { sort, place, backward }: Wanted): Fragment =>
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
