import type { Deployment } from '@millrace/contract';
import type { Fragment, Queryable } from '../../db/connect.ts';
import { liveRuns } from './live-runs.ts';
import { versionNotFound, type FoundVersion } from './find.ts';

export interface DeploymentRow extends FoundVersion {
  readonly createdAt: Date;
  readonly promotedAt: Date | null;
  readonly contentHash: string;
  readonly nodeVersion: string | null;
  readonly sdkVersion: string | null;
  readonly git: NonNullable<Deployment['git']> | null;
  readonly message: string | null;
  readonly externalId: string | null;
  readonly deployedBy: string | null;
  readonly deployedFrom: string | null;
  readonly platforms: string[];
  readonly requires: string[];
  readonly bytes: string;
  readonly tasks: number;
  readonly runners: number;
  readonly isCurrent: boolean;
  readonly canaryPercent: number | null;
  readonly liveRuns: number;
}

/** Reads the deployments in `some` (a fragment with a list of version ids), newest first. */
export const readDeployments = (
  sql: Queryable,
  env: number,
  some: Fragment,
  now: Date,
): Promise<DeploymentRow[]> =>
  sql<DeploymentRow[]>`
    select v.id, v.public_id as "publicId", v.version, v.sequence, v.state, v.is_uploaded as "isUploaded", v.error,
           v.created_at as "createdAt", v.promoted_at as "promotedAt", v.content_hash as "contentHash", v.node_version as "nodeVersion",
           v.sdk_version as "sdkVersion", v.git, v.message, v.external_id as "externalId", v.deployed_by as "deployedBy",
           v.deployed_from as "deployedFrom", v.platforms, v.requires, v.bytes,
           (select count(*)::int from tasks t where t.version_id = v.id) as tasks,
           (select count(*)::int from runners r where r.env = v.env and r.expires_at > ${now} and v.id = any (r.versions)) as runners,
           exists (select from current_versions c where c.env = v.env and c.version_id = v.id) as "isCurrent",
           (select c.canary_percent from current_versions c where c.env = v.env and c.canary_id = v.id) as "canaryPercent",
           coalesce(b.count, 0) as "liveRuns"
      from versions v left join ${liveRuns(sql, env)} b on b.version_id = v.id
     where v.env = ${env} and v.id in (${some})
     order by v.sequence desc`;

/** 404 if the environment has no such version. */
export async function showDeployment(
  sql: Queryable,
  env: number,
  version: Pick<FoundVersion, 'id' | 'version'>,
  now: Date,
): Promise<Deployment> {
  const [row] = await readDeployments(sql, env, sql`select ${version.id}::int`, now);
  if (!row) throw versionNotFound(version.version);
  return deploymentOf(row);
}

export function deploymentOf(row: DeploymentRow): Deployment {
  const { publicId, createdAt, promotedAt, git, error, bytes, state, nodeVersion, ...fields } = row;
  return {
    id: publicId,
    createdAt: createdAt.toISOString(),
    shortCode: shortCodeOf(publicId),
    version: fields.version,
    runtime: nodeVersion === null ? null : 'node',
    runtimeVersion: nodeVersion,
    status: { uploading: 'DEPLOYING', ready: 'DEPLOYED', failed: 'FAILED', archived: 'DEPLOYED' }[
      state
    ] as Deployment['status'],
    ...(promotedAt && { deployedAt: promotedAt.toISOString() }),
    ...(git && { git }),
    ...(error && { error }),
    externalId: fields.externalId,
    state: stateOf(row),
    canaryPercent: fields.canaryPercent,
    contentHash: fields.contentHash,
    isUploaded: fields.isUploaded,
    tasks: fields.tasks,
    bytes: Number(bytes),
    platforms: fields.platforms,
    requires: fields.requires,
    sdkVersion: fields.sdkVersion,
    message: fields.message,
    deployedBy: fields.deployedBy,
    deployedFrom: fields.deployedFrom,
    runners: fields.runners,
    liveRuns: fields.liveRuns,
  };
}

export const shortCodeOf = (publicId: string): string => publicId.slice(-8);

function stateOf({ state, isCurrent, promotedAt, liveRuns: live }: DeploymentRow): Deployment['state'] {
  if (state !== 'ready') return state;
  if (isCurrent) return 'current';
  if (promotedAt === null) return 'ready';
  return live > 0 ? 'draining' : 'drained';
}
