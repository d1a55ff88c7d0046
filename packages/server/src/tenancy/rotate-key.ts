import type { SecretKey } from '@millrace/contract';
import type { Environment } from '../auth/principal.ts';
import type { MasterKey } from '../auth/seal.ts';
import { recordAct, type Actor } from '../audit/record.ts';
import type { Sql } from '../db/connect.ts';
import { notFound, unprocessable } from '../problem.ts';
import { insertKey } from './create-key.ts';
import { keyColumns, keyOf, type KeyRow } from './key-row.ts';

/**
 * Makes a key like another one, with a lifetime as long as that one's was. The other one ends after `overlapMs`, at once if
 * that is 0.
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
    const found = which === 'root' ? tx`'admin' = any(scopes) and revoked_at is null` : tx`id = ${which.id}`;
    const [old] = await tx<KeyRow[]>`
      select ${keyColumns(tx)} from secret_keys
       where environment_id = ${environment.id} and ${found}
       order by expires_at nulls first, created_at, id limit 1 for update`;
    if (!old) throw notFound('Key not found');
    const ended =
      old.revoked_at !== null || (old.expires_at !== null && old.expires_at.getTime() <= Date.now());
    if (ended) throw unprocessable('The key has ended: make a new one instead');
    const { row, text } = await insertKey(tx, masterKey, environment, {
      name: old.name,
      preset: old.preset,
      tasks: old.tasks,
      scopes: old.scopes,
      expiresAt: old.expires_at && new Date(Date.now() + old.expires_at.getTime() - old.created_at.getTime()),
      createdBy: by.principal.kind === 'personalAccessToken' ? by.principal.userId : null,
    });
    await tx`
      update secret_keys set
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
