import type { Environment } from '../auth/principal.ts';
import type { MasterKey } from '../auth/seal.ts';
import { addSigningKey } from '../auth/signing-keys.ts';
import { recordAct, type Actor } from '../audit/record.ts';
import type { Sql } from '../db/connect.ts';

/** Creates a new signing key. Tokens signed with the old keys stay valid for `overlapMs`. */
export async function rotateSigningKey(
  sql: Sql,
  masterKey: MasterKey,
  environment: Environment,
  overlapMs: number,
  by: Actor,
): Promise<{ id: string }> {
  return sql.begin(async (tx) => {
    // Serializes rotations, so that there is only one current key.
    await tx`select from environments where id = ${environment.id} for update`;
    const old = await tx<{ id: string }[]>`
      update signing_keys set
        expires_at = least(expires_at, now() + make_interval(secs => ${overlapMs}::float8 / 1000))
       where environment_id = ${environment.id}
      returning id`;
    const id = await addSigningKey(tx, masterKey, environment.id);
    await recordAct(tx, by, {
      act: 'signingKey.rotated',
      target: id,
      in: { projectRef: environment.projectRef, environment: environment.kind },
      old: { ids: old.map((key) => key.id) },
      new: { overlapMs },
    });
    return { id };
  });
}
