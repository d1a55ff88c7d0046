import type { Clock } from '../../db/clock.ts';
import type { Sql } from '../../db/connect.ts';
import type { Wakes } from '../../db/wake.ts';
import type { Job } from '../../jobs/job.ts';
import { lockVersions } from '../add.ts';
import type { Versions } from '../versions.ts';
import { holdForArchive, markArchived } from './archive.ts';
import { pruneBlobs } from '../blobs/prune.ts';
import { pruneObjects } from '../blobs/prune-objects.ts';
import { markFailed } from './fail.ts';
import { liveRuns } from './live-runs.ts';
import type { BlobStore } from '../store/store.ts';

/** How many uploaded versions each environment retains. */
export const retainedVersions = 10;
/** How long an upload may be idle before it is abandoned. */
export const uploadMs = 24 * 3_600_000;
const maxAtOnce = 20;

export interface RetentionDependencies {
  readonly sql: Sql;
  readonly clock: Pick<Clock, 'now'>;
  readonly versions: Pick<Versions, 'forget'>;
  readonly wakes: Pick<Wakes, 'notify'>;
  readonly store?: BlobStore | undefined;
}

/**
 * The job that frees the storage of deployments: it fails abandoned uploads, archives old versions, and deletes blobs that no version
 * needs. Versions are kept if they are current, have live runs bound to them, or are among the newest.
 */
export function deploymentPruner(dependencies: RetentionDependencies): Job {
  const { sql, clock, store } = dependencies;
  return {
    name: 'deployment pruner',
    everyMs: 60_000,
    async tick() {
      await giveUpUploads(sql, new Date(clock.now() - uploadMs));
      await archiveOld(dependencies);
      const hasMore = await pruneBlobs(sql, clock);
      // Last, because the store may be unavailable.
      return (store !== undefined && (await pruneObjects(sql, clock, store))) || hasMore;
    },
  };
}

async function giveUpUploads(sql: Sql, before: Date): Promise<void> {
  const late = await sql<{ id: number; env: number }[]>`
    select id, env from versions where state = 'uploading' and begun_at < ${before} order by begun_at limit ${maxAtOnce}`;
  for (const { id, env } of late) {
    await sql.begin(async (tx) => {
      await lockVersions(tx, env);
      const [still] = await tx`select from versions where id = ${id} and begun_at < ${before}`;
      const error = { name: 'TimeoutError', message: 'its upload was not finished within a day' };
      if (still) await markFailed(tx, id, error);
    });
  }
}

async function archiveOld({ sql, versions, wakes }: RetentionDependencies): Promise<void> {
  const envs = await sql<{ env: number }[]>`
    select env from versions where is_uploaded and state = 'ready' group by env having count(*) > ${retainedVersions}`;
  for (const { env } of envs) {
    const archived = await sql.begin(async (tx) => {
      await lockVersions(tx, env);
      const beyond = await tx<{ id: number }[]>`
        select n.id from versions n where n.env = ${env} and n.is_uploaded and n.state = 'ready'
         order by n.sequence desc offset ${retainedVersions}`;
      const ids = beyond.map(({ id }) => id);
      await holdForArchive(tx, ids);
      // While the environment's versions are locked, none can become current.
      const old = await tx<{ id: number }[]>`
        select v.id from unnest(${ids}::int[]) as v (id)
         where not exists (select from current_versions c where c.env = ${env} and v.id in (c.version_id, c.canary_id))
           and not exists (select from ${liveRuns(tx, env)} b where b.version_id = v.id)`;
      for (const { id } of old) await markArchived(tx, id);
      return old.length;
    });
    if (archived === 0) continue;
    versions.forget(env);
    wakes.notify({ kind: 'versions', env });
  }
}
