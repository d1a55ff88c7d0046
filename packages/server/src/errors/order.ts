import type { Fragment, Queryable } from '../db/connect.ts';

/** A group's place in an order: what it is ordered by, then its id. */
export interface Place {
  readonly id: string;
  /** When it was seen, or a count. */
  readonly key: Date | number;
}

/**
 * An order of groups `g` that an index has: the latest or the most first, then by id. Two of the indexes are on the slot of a
 * column, which changes less often than the column; within a slot rows are sorted as they come.
 */
interface Order {
  readonly column: (sql: Queryable) => Fragment;
  readonly slot: (sql: Queryable) => Fragment;
  readonly slotOf: (sql: Queryable, key: Place['key']) => Fragment;
}

export const orders = {
  lastSeen: {
    column: (sql) => sql`g.last_seen`,
    slot: (sql) => sql`g.seen_slot`,
    slotOf: (sql, key) => sql`date_bin('10 seconds', ${key}::timestamptz, 'epoch')`,
  },
  firstSeen: {
    column: (sql) => sql`g.first_seen`,
    slot: (sql) => sql`g.first_seen`,
    slotOf: (sql, key) => sql`${key}::timestamptz`,
  },
  count: {
    column: (sql) => sql`g.total`,
    slot: (sql) => sql`g.total_slot`,
    slotOf: (sql, key) => sql`error_total_slot(${key}::bigint)`,
  },
} as const satisfies Record<string, Order>;

export type Sort = keyof typeof orders;

/** What to order by. */
export function ordered(sql: Queryable, sort: Sort, backward: boolean): Fragment {
  const { column, slot } = orders[sort];
  return backward
    ? sql`${slot(sql)} asc, ${column(sql)} asc, g.id desc`
    : sql`${slot(sql)} desc, ${column(sql)} desc, g.id asc`;
}

/** What comes after a place. */
export function beyond(
  sql: Queryable,
  sort: Sort,
  { id, key }: Place,
  backward: boolean,
): readonly Fragment[] {
  const { column, slot, slotOf } = orders[sort];
  const own = column(sql);
  return backward
    ? [sql`${slot(sql)} >= ${slotOf(sql, key)}`, sql`(${own} > ${key} or (${own} = ${key} and g.id < ${id}))`]
    : [
        sql`${slot(sql)} <= ${slotOf(sql, key)}`,
        sql`(${own} < ${key} or (${own} = ${key} and g.id > ${id}))`,
      ];
}

export const all = (sql: Queryable, conditions: readonly Fragment[]): Fragment =>
  conditions.reduce((every, next) => sql`${every} and ${next}`);
