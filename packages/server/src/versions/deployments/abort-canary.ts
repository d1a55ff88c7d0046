import type { Deployment } from '@millrace/contract';
import type { RecordHere } from '../../audit/record.ts';
import { lockVersions } from '../add.ts';
import { readCanary } from './canary.ts';
import { conflict } from './conflict.ts';
import { findVersion } from './find.ts';
import type { DeploymentDependencies } from './promote.ts';
import { showDeployment } from './show.ts';

/** Ends the canary: new runs start on the current version again. Runs that have started on the canary stay on it. */
export async function abortCanary(
  { sql, clock, versions, wakes }: DeploymentDependencies,
  env: number,
  idOrVersion: string,
  record?: RecordHere,
): Promise<Deployment> {
  const deployment = await sql.begin(async (tx) => {
    await lockVersions(tx, env);
    const version = await findVersion(tx, env, idOrVersion);
    const canary = await readCanary(tx, env);
    if (canary?.id !== version.id)
      throw conflict(
        'canary_conflict',
        `Version ${version.version} is not the canary: ${canary ? `the canary is ${canary.version}` : 'no canary exists'}. Nothing was changed.`,
      );
    await tx`update current_versions set canary_id = null, canary_percent = null where env = ${env}`;
    await record?.(tx, {
      act: 'version.canaryAborted',
      target: version.version,
      old: { version: version.version, percent: canary.percent },
    });
    return showDeployment(tx, env, version, new Date(clock.now()));
  });
  versions.forget(env);
  wakes.notify({ kind: 'versions', env });
  return deployment;
}
