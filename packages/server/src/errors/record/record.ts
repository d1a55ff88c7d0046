import type { Queryable } from '../../db/connect.ts';
import type { Failed } from './identify.ts';
import { introduce } from './cached-fingerprints.ts';
import { prepareFailure } from './prepare.ts';

/**
 * Records failures of runs that ended other than through `complete_attempts`, in the transaction that ended them. Such runs are few and
 * were never executed, so the project's rules do not apply.
 */
export async function recordErrors(
  sql: Queryable,
  failures: readonly (Failed & { readonly run: string })[],
  at: Date,
): Promise<void> {
  if (failures.length === 0) return;
  const prepared = failures.map(({ env, task, error }) => prepareFailure(env, task, error));
  const fingerprints = await introduce(sql, prepared, at);
  await sql`
    select record_errors(${at}, ${failures.map(({ env }) => env)}::int[], ${failures.map(({ run }) => run)}::text[],
                         ${fingerprints}::int[])`;
}
