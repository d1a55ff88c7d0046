import type { Fragment, Queryable } from '../db/connect.ts';
import { ownConditions, saysText, type ErrorFilter } from './filters.ts';
import { all } from './order.ts';
import { int32s } from './packed/columns.ts';

/** What an index leads to is worth knowing up to so many groups; of so many each can be looked at. */
const mostKnown = 20_000;
export const few = 3_000;

/**
 * Numbers of groups, in order, without those that do not pass what the rows of groups decide, as far as indexes tell for little: some may
 * be left that do not. Given none all groups are meant; undefined if nothing is known about those either.
 */
export async function narrow(
  sql: Queryable,
  filter: ErrorFilter,
  numbers: Int32Array | undefined,
): Promise<Int32Array | undefined> {
  const { env, search } = filter;
  // Most groups are unresolved: of those no index tells for little.
  const isTelling =
    filter.tasks.length > 0 || (filter.statuses.length > 0 && !filter.statuses.includes('unresolved'));
  const states = all(sql, [sql`g.env = ${env}`, ...ownConditions(sql, { ...filter, search: '' })]);
  const byState =
    isTelling && (await numbersOf(sql, sql`select g.number from error_groups g where ${states}`));
  const left = byState ? both(numbers, byState) : numbers;
  if (search === '' || (left && left.length <= few)) return left;
  const bySearch = await numbersOf(
    sql,
    sql`select x.number from error_texts x where x.env = ${env} and ${saysText(sql, search)}`,
  );
  return bySearch ? both(left, bySearch) : left;
}

/** The numbers that a query finds, in order; undefined if they are many. */
async function numbersOf(sql: Queryable, query: Fragment): Promise<Int32Array | undefined> {
  const [row] = await sql<{ count: number; numbers: Buffer | null }[]>`
    select count(*)::int as count, string_agg(int4send(number), ''::bytea order by number) as numbers
      from (${query} limit ${mostKnown + 1}) n`;
  if (!row || row.count > mostKnown) return undefined;
  return row.numbers === null ? new Int32Array(0) : int32s(row.numbers);
}

function both(one: Int32Array | undefined, other: Int32Array): Int32Array {
  if (one === undefined) return other;
  let at = 0;
  return one.filter((number) => {
    while (at < other.length && (other[at] as number) < number) at += 1;
    return other[at] === number;
  });
}

/** Whether a number is in a list, which is in order. A bit for each, because a set of a hundred thousand takes longer to make than to ask. */
export function membership(list: Int32Array): (number: number) => boolean {
  const first = list[0] ?? 0;
  const last = list.at(-1) ?? -1;
  const bits = new Uint8Array(Math.ceil((last - first + 1) / 8));
  for (const number of list) {
    const place = number - first;
    bits[place >> 3] = (bits[place >> 3] as number) | (1 << (place & 7));
  }
  return (number) =>
    number >= first &&
    number <= last &&
    ((bits[(number - first) >> 3] as number) & (1 << ((number - first) & 7))) !== 0;
}
