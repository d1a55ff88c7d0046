import type { Fragment, Queryable } from '../../db/connect.ts';
import { ownConditions, saysText, type ErrorFilter } from './filters.ts';
import { all } from './order.ts';

/** More groups than this that an index leads to are not listed. */
const maxListed = 20_000;
/** So many groups can each be fetched. */
export const few = 1_000;
/** Where so many of the first few hundred pass, fetching rows is cheaper than asking an index for all of them. */
export const common = 15;

/**
 * Numbers of groups, in order, without those of other tasks and states, as far as indexes tell at low cost: some may be left that do not pass.
 * Undefined if they do not.
 */
export async function prefilterByState(sql: Queryable, filter: ErrorFilter): Promise<Int32Array | undefined> {
  // Most groups are unresolved: no index lists them at low cost.
  const isSelective =
    filter.tasks.length > 0 || (filter.statuses.length > 0 && !filter.statuses.includes('unresolved'));
  if (!isSelective) return undefined;
  const states = all(sql, [sql`g.env = ${filter.env}`, ...ownConditions(sql, { ...filter, search: '' })]);
  return someNumbersOf(sql, sql`select g.number from error_groups g where ${states}`);
}

/** The same without those that do not have the text. `numbers` undefined stands for all groups. */
export async function prefilterBySearch(
  sql: Queryable,
  { env, search }: ErrorFilter,
  numbers: Int32Array | undefined,
): Promise<Int32Array | undefined> {
  const texts = sql`select x.number from error_texts x where x.env = ${env} and ${saysText(sql, search)}`;
  return both(numbers, await someNumbersOf(sql, texts));
}

/** The numbers that a query finds, in order; undefined if they are many. */
async function someNumbersOf(sql: Queryable, query: Fragment): Promise<Int32Array | undefined> {
  const numbers = await numbersOf(
    sql,
    sql`select * from (${query} limit ${maxListed + 1}) n order by number`,
  );
  return numbers.length > maxListed ? undefined : numbers;
}

/** The numbers that a query finds, as it orders them. Sent as bytes, a tenth of the work of an array, which comes as text. */
export async function numbersOf(sql: Queryable, query: Fragment): Promise<Int32Array> {
  const [row] = await sql<{ numbers: Buffer | null }[]>`
    select string_agg(int4send(number), ''::bytea) as numbers from (${query}) n`;
  if (!row?.numbers) return new Int32Array(0);
  // A copy begins where a view of numbers can.
  const copy = Buffer.from(new Uint8Array(row.numbers).buffer);
  return new Int32Array(copy.swap32().buffer);
}

/** Numbers that are in both; a list that is not known leaves the other as it is. */
export function both(one: Int32Array | undefined, other: Int32Array | undefined): Int32Array | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const shared = new Int32Array(Math.min(one.length, other.length));
  let size = 0;
  let at = 0;
  for (const number of one) {
    while (at < other.length && (other[at] as number) < number) at += 1;
    if (other[at] === number) shared[size++] = number;
  }
  return shared.subarray(0, size);
}

/** Whether a number is in a list, which is in order. One bit for each number: building a set of a hundred thousand takes longer than the look-ups. */
export function membership(list: Int32Array): (number: number) => boolean {
  const first = list[0] ?? 0;
  const last = list.at(-1) ?? -1;
  const bits = new Uint8Array(Math.ceil((last - first + 1) / 8));
  for (const number of list) {
    const bit = number - first;
    bits[bit >> 3] = (bits[bit >> 3] as number) | (1 << (bit & 7));
  }
  return (number) =>
    number >= first &&
    number <= last &&
    ((bits[(number - first) >> 3] as number) & (1 << ((number - first) & 7))) !== 0;
}
