import type { Fragment, Queryable } from '../../db/connect.ts';

/** The position of a group in an order, given by its key, then its id. */
export interface Position {
  readonly id: string;
  /** The last occurrence, or the total. For counts of a range, the group's number. */
  readonly key: Date | number;
}

/** The fields that rows are ordered by. */
export interface Ordered {
  readonly id: string;
  readonly count: number;
  readonly first_seen: Date;
  readonly last_seen: Date;
}

/**
 * An order of groups `g` that has an index: latest or highest first, then by id. Two of the indexes are on the slot of a column, which changes
 * less often than the column. Rows of one slot are sorted when they are read.
 */
interface Order {
  readonly column: (sql: Queryable) => Fragment;
  readonly slot: (sql: Queryable) => Fragment;
  readonly slotOf: (sql: Queryable, key: Position['key']) => Fragment;
  /** The value of the column in a row of the list. */
  readonly keyOf: (row: Ordered) => number;
}

export const orders = {
  lastSeen: {
    column: (sql) => sql`g.last_seen`,
    slot: (sql) => sql`g.seen_slot`,
    slotOf: (sql, key) => sql`date_bin('10 seconds', ${key}::timestamptz, 'epoch')`,
    keyOf: (row) => row.last_seen.getTime(),
  },
  firstSeen: {
    column: (sql) => sql`g.first_seen`,
    slot: (sql) => sql`g.first_seen`,
    slotOf: (sql, key) => sql`${key}::timestamptz`,
    keyOf: (row) => row.first_seen.getTime(),
  },
  count: {
    column: (sql) => sql`g.total`,
    slot: (sql) => sql`g.total_slot`,
    slotOf: (sql, key) => sql`error_total_slot(${key}::bigint)`,
    // This order is not used for counts of a range.
    keyOf: (row) => row.count,
  },
} as const satisfies Record<string, Order>;

export type Sort = keyof typeof orders;

/** The `order by` clause. */
export function ordered(sql: Queryable, sort: Sort, backward: boolean): Fragment {
  const { column, slot } = orders[sort];
  return backward
    ? sql`${slot(sql)} asc, ${column(sql)} asc, g.id desc`
    : sql`${slot(sql)} desc, ${column(sql)} desc, g.id asc`;
}

/** The `order by` clause that uses only slots, in index order. */
export const orderedBySlot = (sql: Queryable, sort: Sort, backward: boolean): Fragment =>
  backward ? sql`${orders[sort].slot(sql)} asc` : sql`${orders[sort].slot(sql)} desc`;

/** Rows in list order, or in reverse. */
export function inOrder<R extends Ordered>(rows: readonly R[], sort: Sort, backward: boolean): R[] {
  const { keyOf } = orders[sort];
  const sign = backward ? -1 : 1;
  return rows.toSorted((a, b) => sign * (keyOf(b) - keyOf(a) || (a.id < b.id ? -1 : 1)));
}

/** The rows after a position, and those of its slot. */
export function fromSlot(
  sql: Queryable,
  sort: Sort,
  position: Position | undefined,
  backward: boolean,
): Fragment {
  const { slot, slotOf } = orders[sort];
  if (position === undefined) return sql`true`;
  return backward
    ? sql`${slot(sql)} >= ${slotOf(sql, position.key)}`
    : sql`${slot(sql)} <= ${slotOf(sql, position.key)}`;
}

/** The rows after a position. */
export function beyond(
  sql: Queryable,
  sort: Sort,
  position: Position | undefined,
  backward: boolean,
): Fragment {
  if (position === undefined) return sql`true`;
  const { id, key } = position;
  const own = orders[sort].column(sql);
  return backward
    ? sql`(${own} > ${key} or (${own} = ${key} and g.id < ${id}))`
    : sql`(${own} < ${key} or (${own} = ${key} and g.id > ${id}))`;
}

export const all = (sql: Queryable, conditions: readonly Fragment[]): Fragment =>
  conditions.reduce((every, next) => sql`${every} and ${next}`);
