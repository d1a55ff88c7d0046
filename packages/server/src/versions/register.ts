import type { RegisterVersion, RegisteredVersion, TaskManifest } from '@millrace/contract/runner';
import type { Environment } from '../auth/principal.ts';
import type { RecordHere } from '../audit/record.ts';
import type { Sql } from '../db/connect.ts';
import type { Wakes } from '../db/wake.ts';
import type { Log } from '../logger.ts';
import { addVersion, lockVersions, refuseDuplicates } from './add.ts';
import { promote, type PromoteDependencies } from './promote.ts';
import { refuseSharedTwice } from './queues.ts';
import type { Versions } from './versions.ts';

export interface RegisterDependencies extends PromoteDependencies {
  readonly sql: Sql;
  readonly log: Log;
  readonly versions: Versions;
  readonly wakes: Wakes;
  /** Throws a Problem for tasks that could not become current. */
  readonly check?: (environment: Pick<Environment, 'kind'>, tasks: readonly TaskManifest[]) => void;
}

/**
 * Registers the version in a runner's folder with its tasks. The same content resolves to the same version. In dev the version becomes
 * current; elsewhere only a promotion makes it current, so starting a runner never changes the current version.
 */
export async function registerVersion(
  dependencies: RegisterDependencies,
  environment: Pick<Environment, 'id' | 'kind'>,
  { contentHash, tasks, sdkVersion }: RegisterVersion,
  record?: RecordHere,
): Promise<RegisteredVersion> {
  const { sql, log, clock, versions, wakes, check } = dependencies;
  const { id: env, kind } = environment;
  refuseDuplicates(tasks);
  refuseSharedTwice(tasks);
  check?.(environment, tasks);
  const { changed, ...registered } = await sql.begin(async (tx) => {
    // Concurrent runners with the same code register it once.
    await lockVersions(tx, env);
    const [known] = await tx<{ id: number; version: string; current: boolean }[]>`
      select v.id, v.version, c.version_id is not null as current
        from versions v left join current_versions c on c.env = v.env and c.version_id = v.id
       where v.env = ${env} and v.content_hash = ${contentHash} and not v.is_uploaded and v.state = 'ready'
       order by v.sequence desc limit 1`;
    if (known?.current) return { version: known.version, isNew: false, isCurrent: true, changed: false };
    const version =
      known ?? (await addVersion(tx, env, { contentHash, tasks, sdkVersion }, new Date(clock.now())));
    const isNew = known === undefined;
    if (isNew)
      await record?.(tx, {
        act: 'version.registered',
        target: version.version,
        new: { version: version.version, tasks: tasks.length },
      });
    const isCurrent = kind === 'dev';
    if (isCurrent) await promote(tx, dependencies, env, version, record);
    return { version: version.version, isNew, isCurrent, changed: isNew || isCurrent };
  });
  versions.forget(env);
  wakes.notify({ kind: 'versions', env });
  if (changed) log.info('version.registered', { env, version: registered.version, tasks: tasks.length });
  return registered;
}
