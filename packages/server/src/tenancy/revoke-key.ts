import type { SecretKey } from '@millrace/contract';
import type { Environment } from '../auth/principal.ts';
import { recordAct, type Actor } from '../audit/record.ts';
import type { Sql } from '../db/connect.ts';
import { notFound } from '../problem.ts';
import { keyColumns, keyOf, type KeyRow } from './key-row.ts';

/** Revokes a key. Idempotent. Every process rejects the key within a second. */
export async function revokeKey(
  sql: Sql,
  environment: Environment,
  id: string,
  by: Actor,
): Promise<SecretKey> {
  return sql.begin(async (tx) => {
    const [live] = await tx<KeyRow[]>`
      update secret_keys set revoked_at = now()
       where id = ${id} and environment_id = ${environment.id} and revoked_at is null
      returning ${keyColumns(tx)}`;
    if (live) {
      await recordAct(tx, by, {
        act: 'key.revoked',
        target: id,
        in: { projectRef: environment.projectRef, environment: environment.kind },
        old: { name: live.name, preset: live.preset ?? undefined },
      });
      return keyOf(live);
    }
    const [row] = await tx<KeyRow[]>`
      select ${keyColumns(tx)} from secret_keys where id = ${id} and environment_id = ${environment.id}`;
    if (!row) throw notFound('Key not found');
    return keyOf(row);
  });
}
