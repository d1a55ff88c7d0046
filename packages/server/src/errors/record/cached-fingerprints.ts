import { column } from '../../db/columns.ts';
import type { Queryable, Sql } from '../../db/connect.ts';
import type { PreparedFailure } from './prepare.ts';

/** Maximum fingerprints in memory; the oldest are dropped. */
const maxKnown = 20_000;

/**
 * Finds the fingerprint ids of failures. Known ones are cached. New ones are registered first, in a separate statement: a fingerprint without
 * occurrences is never displayed.
 */
export function cachedFingerprints(
  sql: Sql,
): (failures: readonly PreparedFailure[], now: Date) => Promise<readonly number[]> {
  const known = new Map<string, number>();
  const keyOf = ({ env, task, fingerprint }: PreparedFailure) => `${env} ${task}\u0000${fingerprint}`;

  return async (failures, now) => {
    const keys = failures.map(keyOf);
    const found = new Map(keys.map((key) => [key, known.get(key)]));
    const fresh = new Map<string, PreparedFailure>();
    failures.forEach((failure, index) => {
      const key = keys[index] as string;
      if (found.get(key) === undefined) fresh.set(key, failure);
    });
    if (fresh.size > 0) {
      const ids = await introduce(sql, [...fresh.values()], now);
      for (const [index, key] of [...fresh.keys()].entries()) {
        found.set(key, ids[index]);
        known.set(key, ids[index] as number);
        if (known.size > maxKnown) known.delete(known.keys().next().value as string);
      }
    }
    return keys.map((key) => found.get(key) as number);
  };
}

/** Registers fingerprints and returns their ids. */
export async function introduce(
  sql: Queryable,
  failures: readonly PreparedFailure[],
  now: Date,
): Promise<number[]> {
  const pick = (read: (failure: PreparedFailure) => string | number | null) => column(failures, read);
  const rows = await sql<{ ix: number; id: number }[]>`
    select ix, id from introduce_errors(
      ${now}, ${pick((failure) => failure.env)}::int[], ${pick((failure) => failure.task)}::text[],
      ${pick((failure) => failure.fingerprint)}::text[], ${pick((failure) => failure.group)}::text[],
      ${pick((failure) => failure.type)}::text[], ${pick((failure) => failure.message)}::text[],
      ${pick((failure) => failure.sample())}::text[]::jsonb[],
      ${pick(({ older }) => (older.length === 0 ? null : JSON.stringify(older)))}::text[]::jsonb[])`;
  const ids: number[] = [];
  for (const { ix, id } of rows) ids[ix - 1] = id;
  return ids;
}
