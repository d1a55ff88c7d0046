import type { SecretKey } from '@millrace/contract';
import { userBehind, type Environment } from '../auth/principal.ts';
import type { MasterKey } from '../auth/seal.ts';
import { recordAct, type Actor } from '../audit/record.ts';
import type { Sql } from '../db/connect.ts';
import { notFound, unprocessable } from '../problem.ts';
import { insertKey } from './create-key.ts';
import { keyColumns, keyOf, type KeyRow } from './key-row.ts';

/** The last day with a four-digit year. */
const lastDayMs = Date.UTC(9999, 11, 31);

/**
 * Creates a key with the properties of another one, and with the same lifetime. The old key expires after `overlapMs` (0: immediately) and
 * cannot be rotated again.
 */
export async function rotateKey(
  sql: Sql,
  masterKey: MasterKey,
  environment: Environment,
  which: { readonly id: string } | 'root',
  overlapMs: number,
  by: Actor,
): Promise<SecretKey & { key: string }> {
  return sql.begin(async (tx) => {
    // Serializes rotations, so that a concurrent one sees the new key.
    await tx`select from environments where id = ${environment.id} for update`;
    const found =
      which === 'root'
        ? tx`'admin' = any(scopes) and revoked_at is null and rotated_at is null and (expires_at is null or expires_at > now())`
        : tx`id = ${which.id}`;
    const [old] = await tx<(KeyRow & { rotated_at: Date | null; now: Date })[]>`
      select ${keyColumns(tx)}, rotated_at, now() from secret_keys
       where environment_id = ${environment.id} and ${found}
       order by expires_at desc nulls first, created_at, id limit 1 for update`;
    if (!old) {
      throw notFound(
        which === 'root'
          ? 'Key not found: every key of the environment is restricted or has ended. Create a new one instead.'
          : 'Key not found',
      );
    }
    const now = old.now.getTime();
    const ended = old.revoked_at !== null || (old.expires_at !== null && old.expires_at.getTime() <= now);
    if (ended) throw unprocessable('The key has ended. Create a new one instead.');
    // Its expiry is now the end of the overlap, so a copy would expire too early.
    if (old.rotated_at !== null) {
      throw unprocessable('The key has already been rotated. Rotate the key that replaced it.');
    }
    const { row, text } = await insertKey(tx, masterKey, environment, {
      name: old.name,
      preset: old.preset,
      tasks: old.tasks,
      scopes: old.scopes,
      expiresAt:
        old.expires_at &&
        new Date(Math.min(lastDayMs, now + old.expires_at.getTime() - old.created_at.getTime())),
      createdBy: userBehind(by.principal),
    });
    await tx`
      update secret_keys set
        rotated_at = now(),
        revoked_at = case when ${overlapMs}::float8 = 0 then now() end,
        expires_at = least(expires_at, now() + make_interval(secs => ${overlapMs}::float8 / 1000))
       where id = ${old.id}`;
    await recordAct(tx, by, {
      act: 'key.rotated',
      target: old.id,
      in: { projectRef: environment.projectRef, environment: environment.kind },
      old: { id: old.id, name: old.name },
      new: { id: row.id, overlapMs },
    });
    return { ...keyOf(row), key: text };
  });
}
