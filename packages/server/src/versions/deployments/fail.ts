import type { Deployment } from '@millrace/contract';
import type { Transaction } from '../../db/connect.ts';
import { lockVersions } from '../add.ts';
import { findVersion } from './find.ts';
import { conflict } from './conflict.ts';
import type { DeploymentDependencies } from './promote.ts';
import { showDeployment } from './show.ts';

export interface DeploymentError {
  readonly name: string;
  readonly message: string;
}

/** Marks a deployment that was not finalized as failed. Its files are deleted unless other versions need them. */
export async function failDeployment(
  { sql, clock }: DeploymentDependencies,
  env: number,
  idOrVersion: string,
  error: DeploymentError,
): Promise<Deployment> {
  return sql.begin(async (tx) => {
    await lockVersions(tx, env);
    const version = await findVersion(tx, env, idOrVersion);
    if (version.state === 'uploading') await markFailed(tx, version.id, error);
    else if (version.state !== 'failed')
      throw conflict(
        'deployment_finalized',
        `Version ${version.version} was finalized and can no longer fail. Archive it instead.`,
      );
    return showDeployment(tx, env, version, new Date(clock.now()));
  });
}

/** Only for a version that is being uploaded. */
export async function markFailed(tx: Transaction, version: number, error: DeploymentError): Promise<void> {
  const { count } = await tx`
    update versions set state = 'failed', error = ${JSON.stringify(error).replaceAll(String.raw`\u0000`, '')}::jsonb, bundle = null
     where id = ${version} and state = 'uploading'`;
  if (count > 0) await tx`delete from version_blobs where version_id = ${version}`;
}
