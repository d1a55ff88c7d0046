import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { copyDatabase, type CopiedDatabase, type CopyProgress } from '@millrace/server';
import { lockFolder, ownWays } from '@millrace/platform';
import {
  CLUSTER,
  cleanUpServer,
  clusterMajor,
  findBinaries,
  finishSwap,
  isSwapping,
  serverUser,
  startPostgres,
  swapClusters,
  syncCluster,
  type Binaries,
  type ServerUser,
} from '../cluster/index.ts';
import { UpgradeFailed, UpgradeRefused } from './errors.ts';
import { oldClusterName } from './old-clusters.ts';
import { findOldBinaries } from './old-binaries.ts';
import { isOutOfSpace, requireSpace, saysDiskFull } from './space.ts';

export interface UpgradeData {
  readonly dataFolder: string;
  /** The folder of the old version's programs. Default: the usual locations of PostgreSQL. */
  readonly fromBinaries?: string | undefined;
  readonly signal: AbortSignal;
  readonly onStep: (what: string) => void;
  readonly onProgress: (progress: CopyProgress) => void;
}

export interface Upgraded {
  readonly from: number;
  readonly to: number;
  /** The copied data, and the folder of the old cluster; undefined if the data folder already has the new version. */
  readonly copied?: CopiedDatabase & { readonly oldCluster: string };
}

const DRAFT = 'upgrade.new-';

/** Only the copy is written, and the old cluster remains unchanged. WAL that its server has yet to archive is not removed. */
const oldSettings = { default_transaction_read_only: 'on', autovacuum: 'off', wal_keep_size: '1TB' };

/**
 * A draft that is lost in a machine crash is recreated, so nothing is logged or flushed until the end, when everything is flushed to disk.
 */
const draftSettings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  maintenance_work_mem: '256MB',
};

/**
 * Upgrades the cluster of a data folder to the newest available PostgreSQL: copies it to a new cluster, then swaps the two and keeps the old
 * one. The copy is created in a draft folder. If the process dies before the swap, nothing has changed.
 */
export async function upgradeData(options: UpgradeData): Promise<Upgraded> {
  const { dataFolder } = options;
  const cluster = join(dataFolder, CLUSTER);
  if (!existsSync(join(cluster, 'PG_VERSION')) && !isSwapping(dataFolder)) {
    throw new UpgradeRefused(
      `No database in ${dataFolder}. Pass --data with the folder of \`millrace start\`, or \`.millrace/data\` for \`millrace dev\`.`,
    );
  }
  const ownership = await lockFolder(dataFolder).catch((error: unknown) => {
    throw saysDiskFull(error) ? new UpgradeRefused(fullDisk(dataFolder)) : error;
  });
  try {
    await finishSwap(dataFolder);
    const user = serverUser(cluster);
    await sweepDrafts(dataFolder);
    const from = clusterMajor(cluster) ?? 0;
    const draft = join(dataFolder, `${DRAFT}${process.pid}`);
    const binaries = await findBinaries(join(draft, CLUSTER), user);
    if (from === binaries.major) return { from, to: binaries.major };
    if (from > binaries.major) {
      throw new UpgradeRefused(
        `The data in ${cluster} was made by PostgreSQL ${from}, which is newer than the ${binaries.major} of this Millrace. Use the Millrace that created it.`,
      );
    }
    const oldBinaries = await findOldBinaries(cluster, user, options.fromBinaries);
    await requireSpace(dataFolder, cluster);
    try {
      const copied = await fill({ ...options, draft, binaries, oldBinaries, user });
      options.onStep('the new database to be written to disk');
      await syncCluster(join(draft, CLUSTER), binaries, user);
      options.signal.throwIfAborted();
      const name = oldClusterName(dataFolder, from);
      await swapClusters(dataFolder, { draft: basename(draft), oldCluster: name });
      return { from, to: binaries.major, copied: { ...copied, oldCluster: join(dataFolder, name) } };
    } catch (error) {
      throw await explain(error, options);
    } finally {
      // After a failed swap, the draft is the only copy.
      if (!isSwapping(dataFolder)) await rm(draft, { recursive: true, force: true, maxRetries: 5 });
    }
  } finally {
    await ownership.release();
  }
}

interface Fill extends UpgradeData {
  readonly draft: string;
  readonly binaries: Binaries;
  readonly oldBinaries: Binaries;
  readonly user: ServerUser | null;
}

/** Creates the new cluster in the draft folder, complete and stopped. */
async function fill(options: Fill): Promise<CopiedDatabase> {
  const { dataFolder, draft, binaries, oldBinaries, user, signal, onStep, onProgress } = options;
  await mkdir(draft);
  // Root's folder must be searchable, since the server runs as another user.
  await chmod(draft, process.getuid?.() === 0 ? 0o711 : 0o700);
  onStep(`PostgreSQL ${oldBinaries.major} to start`);
  const old = await startPostgres({
    dataDir: dataFolder,
    isOwned: true,
    binaries: oldBinaries,
    user,
    settings: oldSettings,
  });
  try {
    onStep(`PostgreSQL ${binaries.major} to start`);
    const upgraded = await startPostgres({ dataDir: draft, binaries, user, settings: draftSettings });
    try {
      signal.throwIfAborted();
      onStep('the rows to be copied');
      return await copyDatabase({
        from: old.connection,
        to: upgraded.connection,
        signal,
        onProgress,
        onStep,
      });
    } finally {
      await upgraded.stop();
    }
  } finally {
    await old.stop();
  }
}

/** Removes leftovers of killed upgrades, whose servers may still be stopping. */
async function sweepDrafts(dataFolder: string): Promise<void> {
  for (const name of await readdir(dataFolder)) {
    if (!name.startsWith(DRAFT)) continue;
    const draft = join(dataFolder, name);
    const cluster = join(draft, CLUSTER);
    const socketFolder = ownWays === 'unix' ? join(draft, 'run') : undefined;
    if (existsSync(cluster)) await cleanUpServer(cluster, socketFolder, () => {});
    await rm(draft, { recursive: true, force: true, maxRetries: 5 });
  }
}

const fullDisk = (dataFolder: string): string =>
  `The disk of ${dataFolder} is full. Free some space and try again; the database is unchanged.`;

async function explain(error: unknown, { signal, dataFolder }: UpgradeData): Promise<unknown> {
  if (isSwapping(dataFolder)) {
    return new UpgradeFailed(
      `The new database is complete, but could not be put in its place: ${(error as Error).message}. Run the command again.`,
    );
  }
  if (signal.aborted) return new UpgradeFailed('Stopped. The database is unchanged.');
  if (saysDiskFull(error)) return new UpgradeFailed(fullDisk(dataFolder));
  if (!(error instanceof Error) || error.name.endsWith('Refused')) return error;
  if (await isOutOfSpace(dataFolder)) return new UpgradeFailed(fullDisk(dataFolder));
  if (error.name === 'EmbeddedPostgresError') return error;
  return new UpgradeFailed(`The database could not be copied: ${error.message}. It is unchanged.`);
}
