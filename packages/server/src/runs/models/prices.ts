import type { ModelPrice } from '@millrace/contract';
import type { Queryable } from '../../db/connect.ts';
import { defaultPrices } from './default-prices.ts';

/** Millionths of a US dollar for a million tokens. */
export interface Price {
  readonly input: bigint;
  /** Null: as `input`. */
  readonly cachedInput: bigint | null;
  readonly cacheWrite: bigint | null;
  readonly output: bigint;
}

export interface PriceRow {
  readonly model: string;
  readonly input: string;
  readonly cached_input: string | null;
  readonly cache_write: string | null;
  readonly output: string;
  readonly updated_at: Date;
}

/** A decimal number of dollars, such as `0.075`, in millionths. */
export function microsOf(dollars: string): bigint {
  const [whole = '', fraction = ''] = dollars.split('.');
  return BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, '0'));
}

/** The decimal number of dollars of an amount in millionths, without trailing zeros. */
export function dollarsOf(micros: bigint): string {
  const text = micros.toString().padStart(7, '0');
  const fraction = text.slice(-6).replace(/0+$/, '');
  return `${text.slice(0, -6)}${fraction === '' ? '' : `.${fraction}`}`;
}

const priceOf = (row: Omit<PriceRow, 'model' | 'updated_at'>): Price => ({
  input: BigInt(row.input),
  cachedInput: row.cached_input === null ? null : BigInt(row.cached_input),
  cacheWrite: row.cache_write === null ? null : BigInt(row.cache_write),
  output: BigInt(row.output),
});

/** A price as the API returns it. */
export function responseOf(row: PriceRow): ModelPrice {
  const text = (amount: string | null) => (amount === null ? null : dollarsOf(BigInt(amount)));
  return {
    model: row.model,
    input: dollarsOf(BigInt(row.input)),
    cachedInput: text(row.cached_input),
    cacheWrite: text(row.cache_write),
    output: dollarsOf(BigInt(row.output)),
    isDefault: false,
    updatedAt: row.updated_at.toISOString(),
  };
}

/** Finds the price of a model by its names, in order; undefined if there is none. */
export type FindPrice = (...names: readonly (string | undefined)[]) => Price | undefined;

/** A name without `*` comes first, and then the longest one. A project's price precedes a default one, even if that is more exact. */
export function priceFinder(own: ReadonlyMap<string, Price>): FindPrice {
  const levels = [own, defaults];
  return (...names) => {
    for (const level of levels) {
      for (const name of names) {
        const found = name === undefined ? undefined : findIn(level, name);
        if (found) return found;
      }
    }
    return undefined;
  };
}

function findIn(prices: ReadonlyMap<string, Price>, name: string): Price | undefined {
  const exact = prices.get(name);
  if (exact) return exact;
  for (let length = name.length; length >= 0; length--) {
    const found = prices.get(`${name.slice(0, length)}*`);
    if (found) return found;
  }
  return undefined;
}

const defaults: ReadonlyMap<string, Price> = new Map(
  defaultPrices.map(({ model, input, cachedInput, cacheWrite, output }) => [
    model,
    {
      input: microsOf(input),
      cachedInput: cachedInput === null ? null : microsOf(cachedInput),
      cacheWrite: cacheWrite === null ? null : microsOf(cacheWrite),
      output: microsOf(output),
    },
  ]),
);

/** The prices of the projects of some environments, by environment. */
export async function readPrices(
  sql: Queryable,
  envs: readonly number[],
): Promise<(env: number) => FindPrice> {
  const rows = await sql<(PriceRow & { env: number })[]>`
    select e.id as env, p.* from environments e join model_prices p on p.project_id = e.project_id where e.id = any(${[...envs]}::int[])`;
  const own = new Map<number, Map<string, Price>>();
  for (const row of rows) {
    const prices = own.get(row.env) ?? new Map<string, Price>();
    own.set(row.env, prices.set(row.model, priceOf(row)));
  }
  const finders = new Map(envs.map((env) => [env, priceFinder(own.get(env) ?? new Map())]));
  return (env) => finders.get(env) ?? priceFinder(new Map());
}

/** The cost of a call in 10^-12 dollars. */
export function costOf(
  price: Price,
  call: {
    readonly input: number;
    readonly cached: number;
    readonly cacheWrite: number;
    readonly output: number;
  },
): bigint {
  const plain = BigInt(Math.max(0, call.input - call.cached - call.cacheWrite));
  return (
    plain * price.input +
    BigInt(call.cached) * (price.cachedInput ?? price.input) +
    BigInt(call.cacheWrite) * (price.cacheWrite ?? price.input) +
    BigInt(call.output) * price.output
  );
}
