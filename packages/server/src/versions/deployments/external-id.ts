import type { Transaction } from '../../db/connect.ts';

/**
 * Makes runs with this `externalDeploymentId` start on this version, which is ready; runs that waited for it are queued. Runs in the
 * transaction of the caller, who has locked the versions.
 */
export async function landExternalId(
  tx: Transaction,
  env: number,
  version: number,
  externalId: string,
  at: Date,
): Promise<void> {
  await tx`
    insert into external_ids (env, id, version_id) values (${env}, ${externalId}, ${version})
    on conflict (env, id) do update set version_id = excluded.version_id`;
  await tx`update versions set external_id = ${externalId} where id = ${version}`;
  await tx`select promote_external_id(${env}, ${externalId}, ${at}, 100000)`;
}
