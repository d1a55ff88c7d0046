import type { Deployment } from '@millrace/contract';
import type { RecordHere } from '../../audit/record.ts';
import type { Transaction } from '../../db/connect.ts';
import { lockVersions } from '../add.ts';
import { findVersion, type FoundVersion } from './find.ts';
import { liveRuns } from './live-runs.ts';
import type { Problem } from '../../problem.ts';
import { conflict } from './conflict.ts';
import type { DeploymentDependencies } from './promote.ts';
import { showDeployment } from './show.ts';

/** Archives a version: it can no longer be promoted or fetched, and its files are deleted unless other versions need them. */
export async function archiveDeployment(
  dependencies: DeploymentDependencies,
  env: number,
  idOrVersion: string,
  record?: RecordHere,
): Promise<Deployment> {
  const { sql, clock, versions, wakes } = dependencies;
  const deployment = await sql.begin(async (tx) => {
    await lockVersions(tx, env);
    const version = await findVersion(tx, env, idOrVersion);
    if (version.state !== 'archived') {
      await holdForArchive(tx, [version.id]);
      const refused = await reasonToStay(tx, env, version);
      if (refused !== undefined) throw refused;
      await markArchived(tx, version.id);
      await record?.(tx, { act: 'version.archived', target: version.version });
    }
    return showDeployment(tx, env, version, new Date(clock.now()));
  });
  versions.forget(env);
  wakes.notify({ kind: 'versions', env });
  return deployment;
}

async function reasonToStay(
  tx: Transaction,
  env: number,
  { id, version, state }: FoundVersion,
): Promise<Problem | undefined> {
  const notReady = (message: string) => conflict('version_not_ready', message);
  const inUse = (message: string) => conflict('version_in_use', message);
  if (state === 'uploading')
    return notReady(`Version ${version} is still being uploaded. Abandon the upload instead.`);
  if (state === 'failed') return notReady(`Version ${version} failed: it has no files.`);
  const [row] = await tx<{ current: boolean; canary: boolean; live: number }[]>`
    select exists (select from current_versions c where c.env = ${env} and c.version_id = ${id}) as current,
           exists (select from current_versions c where c.env = ${env} and c.canary_id = ${id}) as canary,
           coalesce((select b.count from ${liveRuns(tx, env)} b where b.version_id = ${id}), 0) as live`;
  if (row?.current) return inUse(`Version ${version} is the current version. Promote another one first.`);
  if (row?.canary) return inUse(`Version ${version} is the canary. Abort it first.`);
  if (row && row.live > 0) {
    const [live, them] = row.live === 1 ? ['1 run is', 'it'] : [`${row.live} runs are`, 'them'];
    return inUse(
      `${live} bound to version ${version}. Wait for ${them} to end, cancel ${them}, or move ${them} to another version (\`millrace versions move ${version} …\`).`,
    );
  }
  return undefined;
}

/**
 * Waits for triggers that create runs of these versions, and makes later ones wait (`hold_versions`). Only then is the number of live runs
 * final.
 */
export const holdForArchive = (tx: Transaction, versions: readonly number[]): Promise<unknown> =>
  tx`select from versions where id = any (${[...versions]}::int[]) order by id for update`;

/** The version must be held by `holdForArchive`, not be current, and have no live run. */
export async function markArchived(tx: Transaction, version: number): Promise<void> {
  await tx`update versions set state = 'archived', bundle = null where id = ${version}`;
  await tx`delete from version_blobs where version_id = ${version}`;
  await tx`delete from external_ids where version_id = ${version}`;
}
