import type { Fragment, Queryable } from '../../db/connect.ts';
import { ownConditions, saysText, type ErrorFilter } from './filters.ts';
import { all } from './order.ts';
import { int32s } from '../packed/columns.ts';

/** What an index leads to is worth knowing up to so many groups; of so many each can be looked at. */
const maxKnown = 20_000;
export const few = 1_000;
/** Where so many of the first few hundred pass, to look at rows is cheaper than to ask an index for all. */
export const common = 15;

/**
 * Numbers of groups, in order, without those of other tasks and states, as far as indexes tell for little: some may be left that do not
 * pass. Given none all groups are meant; undefined if nothing is known about those either.
 */
export async function prefilterByState(
  sql: Queryable,
  filter: ErrorFilter,
  numbers: Int32Array | undefined,
): Promise<Int32Array | undefined> {
  // Most groups are unresolved: of those no index tells for little.
  const isTelling =
    filter.tasks.length > 0 || (filter.statuses.length > 0 && !filter.statuses.includes('unresolved'));
  if (!isTelling) return numbers;
  const states = all(sql, [sql`g.env = ${filter.env}`, ...ownConditions(sql, { ...filter, search: '' })]);
  return both(numbers, await numbersOf(sql, sql`select g.number from error_groups g where ${states}`));
}

/** The same without those that do not have the text. */
export async function prefilterBySearch(
  sql: Queryable,
  { env, search }: ErrorFilter,
  numbers: Int32Array | undefined,
): Promise<Int32Array | undefined> {
  const texts = sql`select x.number from error_texts x where x.env = ${env} and ${saysText(sql, search)}`;
  return both(numbers, await numbersOf(sql, texts));
}

/** The numbers that a query finds, in order; undefined if they are many. */
async function numbersOf(sql: Queryable, query: Fragment): Promise<Int32Array | undefined> {
  const [row] = await sql<{ count: number; numbers: Buffer | null }[]>`
    select count(*)::int as count, string_agg(int4send(number), ''::bytea order by number) as numbers
      from (${query} limit ${maxKnown + 1}) n`;
  if (!row || row.count > maxKnown) return undefined;
  return row.numbers === null ? new Int32Array(0) : int32s(row.numbers);
}

/** Numbers that are in both; one that is not known leaves the other as it is. */
function both(one: Int32Array | undefined, other: Int32Array | undefined): Int32Array | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const kept = new Int32Array(Math.min(one.length, other.length));
  let size = 0;
  let at = 0;
  for (let index = 0; index < one.length; index++) {
    const number = one[index] as number;
    while (at < other.length && (other[at] as number) < number) at += 1;
    if (other[at] === number) kept[size++] = number;
  }
  return kept.subarray(0, size);
}

/** Whether a number is in a list, which is in order. A bit for each, because a set of a hundred thousand takes longer to make than to ask. */
export function membership(list: Int32Array): (number: number) => boolean {
  const first = list[0] ?? 0;
  const last = list.at(-1) ?? -1;
  const bits = new Uint8Array(Math.ceil((last - first + 1) / 8));
  for (const number of list) {
    const index = number - first;
    bits[index >> 3] = (bits[index >> 3] as number) | (1 << (index & 7));
  }
  return (number) =>
    number >= first &&
    number <= last &&
    ((bits[(number - first) >> 3] as number) & (1 << ((number - first) & 7))) !== 0;
}
