import type { Comparison } from '@millrace/contract';
import type { Queryable } from '../../db/connect.ts';
import { unprocessable } from '../../problem.ts';
import { findVersion, type FoundVersion } from '../deployments/find.ts';
import { deploymentOf, readDeployments } from '../deployments/show.ts';
import { commitsUrl } from './commits-url.ts';
import { compareTasks } from './tasks.ts';

/** Maximum deployments between the two versions in the response. */
const maxDeployments = 100;

/**
 * Compares two versions of an environment in any state, the older one first. Without `other`, the version is compared with the one before it.
 * 404 for an unknown version; 422 for a version with itself, or if there is none before it.
 */
export async function compareDeployments(
  sql: Queryable,
  env: number,
  { version: idOrVersion, with: other }: { readonly version: string; readonly with?: string | undefined },
  now: Date,
): Promise<Comparison> {
  const version = await findVersion(sql, env, idOrVersion);
  const found =
    other === undefined ? await findPrevious(sql, env, version) : await findVersion(sql, env, other);
  if (found.id === version.id)
    throw unprocessable(
      `with: this is also version ${version.version}. Send another version, or omit it to compare with the version before.`,
    );
  const [before, after] = found.sequence < version.sequence ? [found, version] : [version, found];
  const tasks = await compareTasks(sql, env, before, after);
  const some = sql`
    select id from versions v where v.env = ${env} and v.id = ${before.id}
    union all
    (select id from versions v where v.env = ${env} and v.sequence > ${before.sequence} and v.sequence <= ${after.sequence}
      order by v.sequence desc limit ${maxDeployments + 1})`;
  const rows = (await readDeployments(sql, env, some, now)).map(deploymentOf);
  const ofVersion = ({ publicId }: FoundVersion) => {
    const deployment = rows.find(({ id }) => id === publicId);
    if (!deployment) throw new Error(`the deployment ${publicId} was not read`);
    return deployment;
  };
  const [oldest, newest] = [ofVersion(before), ofVersion(after)];
  const between = rows.filter(({ id }) => id !== oldest.id);
  return {
    before: oldest,
    after: newest,
    tasks,
    deployments: between.slice(0, maxDeployments),
    hasMoreDeployments: between.length > maxDeployments,
    commitsUrl: commitsUrl(oldest.git, newest.git),
  };
}

async function findPrevious(
  sql: Queryable,
  env: number,
  { id, version }: FoundVersion,
): Promise<FoundVersion> {
  const [row] = await sql<{ version: string | null }[]>`
    select v.version from versions v where v.env = ${env} and v.id = previous_version(${env}, ${id})`;
  if (row?.version) return findVersion(sql, env, row.version);
  throw unprocessable(
    `with: no version before ${version} has been current. Send the version to compare it with.`,
  );
}
