import type { Fragment, Queryable } from '../../db/connect.ts';
import { fetchPage, type SlotRow, type PageRequest } from './fetch-page.ts';
import { occurred, type ErrorFilter } from './filters.ts';
import { all, beyond, fromSlot, inOrder, ordered, orderedBySlot, orders } from './order.ts';
import { few, membership, numbersOf } from './prefilter.ts';

/** The stages of a scan, as start and end offsets. Most scans end in the first stage. */
const stages = [
  { from: 0, to: 5_000 },
  { from: 5_000, to: 25_000 },
  { from: 25_000, to: null },
];

export interface Among {
  /** Numbers of the candidate groups; undefined if any group may match. */
  readonly passing: Int32Array | undefined;
  /** The scan gives up after it has fetched this many rows. */
  readonly maxFetched: number;
}

/** Scans the index of the order, which has the numbers of groups, and fetches the rows of candidates. Undefined if the scan gave up. */
export async function scanIndex(
  sql: Queryable,
  filter: ErrorFilter,
  request: PageRequest,
  { passing, maxFetched }: Among,
): Promise<SlotRow[] | undefined> {
  const { sort, backward, limit } = request;
  if (passing && passing.length <= few) return rowsAmong(sql, filter, request, passing);
  const isPassing = passing ? membership(passing) : () => true;
  const found = new Map<string, SlotRow>();
  const fetch = async (numbers: Int32Array): Promise<void> => {
    for (const row of await rowsAmong(sql, filter, request, numbers)) found.set(row.id, row);
  };
  let fetched = 0;
  for (const { from, to } of stages) {
    const length = to && to - from;
    const next = await numbersOf(
      sql,
      sql`
      select g.number from error_groups g where ${inScan(sql, filter, request)}
       order by ${orderedBySlot(sql, sort, backward)} offset ${from} limit ${length}`,
    );
    const could = next.filter(isPassing);
    for (let at = 0, many = limit; at < could.length; many *= 4) {
      if (fetched >= maxFetched) return undefined;
      const some = could.subarray(at, at + Math.min(many, Math.ceil(maxFetched - fetched)));
      fetched += some.length;
      at += some.length;
      await fetch(some);
      if (found.size >= limit) break;
    }
    if (found.size >= limit || length === null || next.length < length) break;
  }
  const last = inOrder([...found.values()], sort, backward)[limit - 1];
  if (last) {
    // The index does not order groups within a slot, so others in the last slot may precede this one.
    const sameSlot = await numbersOf(
      sql,
      sql`
      select g.number from error_groups g
       where g.env = ${filter.env} and g.merged_into is null and ${orders[sort].slot(sql)} = ${last.slot}`,
    );
    await fetch(sameSlot.filter(isPassing));
  }
  return inOrder([...found.values()], sort, backward).slice(0, limit);
}

const rowsOf = (sql: Queryable, numbers: Int32Array): Fragment => sql`
  select g.* from error_fingerprints f join error_groups g on g.env = f.env and g.id = f.own_group
   where f.id = any(${[...numbers]}::int[])`;

async function rowsAmong(
  sql: Queryable,
  filter: ErrorFilter,
  request: PageRequest,
  numbers: Int32Array,
): Promise<SlotRow[]> {
  if (numbers.length === 0) return [];
  const { sort, position, backward } = request;
  const groups = sql`
    ${rowsOf(sql, numbers)} and g.merged_into is null and ${beyond(sql, sort, position, backward)}
     order by ${ordered(sql, sort, backward)}`;
  return (await fetchPage(sql, filter, request, { groups, conditions: occurred(sql, filter) })).rows;
}

/** Where a scan of the index of the order begins and ends. */
export const inScan = (
  sql: Queryable,
  filter: ErrorFilter,
  { sort, position, backward }: PageRequest,
): Fragment =>
  all(sql, [
    sql`g.env = ${filter.env}`,
    sql`g.merged_into is null`,
    ...inRange(sql, filter),
    fromSlot(sql, sort, position, backward),
  ]);

/** A group last seen before the range, or first seen after it, has no occurrence in it. The indexes have one or both of these times. */
const inRange = (sql: Queryable, { range: { from, to } }: ErrorFilter): readonly Fragment[] => [
  ...(from ? [sql`g.seen_slot >= date_bin('10 seconds', ${from}::timestamptz, 'epoch')`] : []),
  ...(to ? [sql`g.first_seen <= ${to}`] : []),
];
