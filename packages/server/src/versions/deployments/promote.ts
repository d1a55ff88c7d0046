import type { Operations, Reply } from '@millrace/contract';
import type { RecordHere } from '../../audit/record.ts';
import type { Sql } from '../../db/connect.ts';
import type { Wakes } from '../../db/wake.ts';
import type { Log } from '../../logger.ts';
import { lockVersions } from '../add.ts';
import { promote, type PromoteDependencies } from '../promote.ts';
import type { Versions } from '../versions.ts';
import { refuseCanary, setCanary } from './canary.ts';
import { conflict } from './conflict.ts';
import { findVersion, type FoundVersion } from './find.ts';
import { shortCodeOf } from './show.ts';

export interface DeploymentDependencies extends PromoteDependencies {
  readonly sql: Sql;
  readonly log: Log;
  readonly versions: Pick<Versions, 'forget' | 'want'>;
  readonly wakes: Pick<Wakes, 'notify'>;
}

export interface PromoteOptions {
  readonly allowRollbacks: boolean;
  readonly force: boolean;
  /** The percentage of new runs. If set, the version becomes the canary instead. */
  readonly percent?: number | undefined;
  /** Throws if the caller may only promote newer versions. */
  readonly authorizeRollback?: () => void;
}

/** Makes a version current, or the canary. 409 with advice if it cannot be promoted, or needs one of the options. */
export async function promoteDeployment(
  dependencies: DeploymentDependencies,
  env: number,
  idOrVersion: string,
  options: PromoteOptions,
  record?: RecordHere,
): Promise<Reply<Operations['promoteDeployment']>> {
  const { sql, log, clock, versions, wakes } = dependencies;
  const promoted = await sql.begin(async (tx) => {
    await lockVersions(tx, env);
    const version = await findVersion(tx, env, idOrVersion);
    refuseUnready(version);
    const [current] = await tx<{ version: string; sequence: number }[]>`
      select v.version, v.sequence from current_versions c join versions v on v.id = c.version_id where c.env = ${env}`;
    const { percent } = options;
    if (percent !== undefined) await refuseCanary(tx, env, version, current?.version);
    if (current && version.sequence < current.sequence) {
      options.authorizeRollback?.();
      if (!options.allowRollbacks)
        throw conflict(
          'version_outdated',
          `Version ${version.version} is older than the current version ${current.version}. To roll back to it, allow the rollback: --allow-rollback of \`millrace versions promote\`, or allowRollbacks=true.`,
        );
    }
    // Promoting the current version again changes nothing, so no runner needs to have loaded it.
    const isChange = current?.version !== version.version;
    if (isChange && !options.force) {
      const [loaded] = await tx`
        select from runners r
         where r.env = ${env} and r.expires_at > ${new Date(clock.now())} and ${version.id} = any (r.versions)
           and not r.draining and not r.stopping limit 1`;
      if (!loaded) return { ...version, isLoaded: false } as const;
    }
    if (percent !== undefined) {
      await setCanary(tx, env, version, percent, record);
      return { ...version, isLoaded: true, replaced: null, isChange: false } as const;
    }
    const replaced = await promote(tx, dependencies, env, version, record);
    return { ...version, isLoaded: true, replaced, isChange } as const;
  });
  if (!promoted.isLoaded) {
    if (promoted.isUploaded) {
      versions.want(env, promoted.id);
      wakes.notify({ kind: 'versions', env, requested: promoted.id });
    }
    throw notLoaded(promoted);
  }
  versions.forget(env);
  wakes.notify({ kind: 'versions', env });
  const { publicId: id, version, replaced, isChange } = promoted;
  if (isChange) log.info('version.promoted', { env, version, replaced });
  return { id, version, shortCode: shortCodeOf(id), replaced, canaryPercent: options.percent ?? null };
}

/** Runners load an old version only on request. `code` indicates to clients that another attempt may succeed. */
const notLoaded = ({ version, isUploaded }: FoundVersion) =>
  isUploaded
    ? conflict(
        'version_not_loaded',
        `No connected runner has loaded version ${version}. Those that can load it have been notified. Try again in a few seconds, start another runner, or promote it anyway (--force, or force=true).`,
        { code: 'version_not_loaded' },
      )
    : conflict(
        'version_not_served',
        `No connected runner has loaded version ${version}, which was not uploaded. Start a runner with its folder, or promote it anyway (--force, or force=true).`,
      );

/** 409 with the reason for a version that runs could not start on. */
export function refuseUnready({ version, state, error }: FoundVersion): void {
  if (state === 'ready') return;
  throw conflict(
    'version_not_ready',
    {
      uploading: `Version ${version} is still being uploaded. Finalize it first.`,
      failed: `Version ${version} failed (${error?.message ?? 'it was abandoned'}). Deploy it again.`,
      archived: `Version ${version} is archived, and its files were deleted. Deploy its code again.`,
    }[state],
  );
}
