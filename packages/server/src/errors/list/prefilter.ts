import type { Fragment, Queryable } from '../../db/connect.ts';
import { possiblyOwnedBy } from '../ownership/filter.ts';
import { ownConditions, saysText, type ErrorFilter } from './filters.ts';
import { all } from './order.ts';

/** The maximum number of groups that are listed from an index. */
const maxListed = 20_000;
/** Up to this number, groups can be fetched individually. */
export const few = 1_000;
/** If this many of the first few hundred match, fetching rows is cheaper than finding all candidates through an index. */
export const common = 15;

/**
 * Numbers of groups, in order, excluding those of other tasks, owners and states as far as indexes can do so at low cost; some that do not match
 * may remain. Undefined if indexes cannot exclude any.
 */
export async function prefilterByState(sql: Queryable, filter: ErrorFilter): Promise<Int32Array | undefined> {
  // Most groups are unresolved, and no index lists them at low cost.
  const isSelective =
    filter.tasks.length > 0 ||
    filter.owners !== undefined ||
    (filter.statuses.length > 0 && !filter.statuses.includes('unresolved'));
  if (!isSelective) return undefined;
  const states = all(sql, [
    sql`g.env = ${filter.env}`,
    ...(filter.owners ? [possiblyOwnedBy(sql, filter.env, filter.owners)] : []),
    ...ownConditions(sql, { ...filter, search: '' }),
  ]);
  return someNumbersOf(sql, sql`select g.number from error_groups g where ${states}`);
}

/** Excludes groups that lack the text from `numbers`. `numbers` is undefined for all groups. */
export async function prefilterBySearch(
  sql: Queryable,
  { env, search }: ErrorFilter,
  numbers: Int32Array | undefined,
): Promise<Int32Array | undefined> {
  const texts = sql`select x.number from error_texts x where x.env = ${env} and ${saysText(sql, search)}`;
  return both(numbers, await someNumbersOf(sql, texts));
}

/** The numbers found by a query, in order; undefined if there are too many. */
async function someNumbersOf(sql: Queryable, query: Fragment): Promise<Int32Array | undefined> {
  const numbers = await numbersOf(
    sql,
    sql`select * from (${query} limit ${maxListed + 1}) n order by number`,
  );
  return numbers.length > maxListed ? undefined : numbers;
}

/** The numbers found by a query, in its order. Sent as bytes, which costs a tenth of an array, which would be sent as text. */
export async function numbersOf(sql: Queryable, query: Fragment): Promise<Int32Array> {
  const [row] = await sql<{ numbers: Buffer | null }[]>`
    select string_agg(int4send(number), ''::bytea) as numbers from (${query}) n`;
  if (!row?.numbers) return new Int32Array(0);
  // A copy starts at an aligned offset, as a typed array requires.
  const copy = Buffer.from(new Uint8Array(row.numbers).buffer);
  return new Int32Array(copy.swap32().buffer);
}

/** Numbers that are in both lists; an undefined list does not restrict the other. */
export function both(first: Int32Array | undefined, second: Int32Array | undefined): Int32Array | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  const shared = new Int32Array(Math.min(first.length, second.length));
  let size = 0;
  let at = 0;
  for (const number of first) {
    while (at < second.length && (second[at] as number) < number) at += 1;
    if (second[at] === number) shared[size++] = number;
  }
  return shared.subarray(0, size);
}

/**
 * Whether a number is in a sorted list. Uses one bit per number, because building a set of a hundred thousand takes longer than the
 * lookups.
 */
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
