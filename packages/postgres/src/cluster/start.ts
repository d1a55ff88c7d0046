import { chmod, chown, lchown, readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { lockFolder, makeFolder, type Ownership, ownWays, type Ways } from '@millrace/platform';
import { findBinaries, type Binaries } from './binaries.ts';
import { urlOf, type PostgresConnection } from './connection.ts';
import { EmbeddedPostgresError } from './errors.ts';
import { initialise } from './initialise.ts';
import { serve } from './serve.ts';
import { serverUser, type ServerUser } from './server-user.ts';
import type { Settings } from './settings.ts';
import type { PostgresEnd } from './supervise.ts';
import { CLUSTER, finishSwap } from './swap.ts';
import { claimArchive, requireArchivePrograms } from './wal-archive.ts';

export type { PostgresConnection } from './connection.ts';

export interface StartPostgres {
  /** The data folder; created if it does not exist. Relative paths start from the working directory. */
  dataDir: string;
  /** Called with one line each from the server's log and its supervisor. */
  onLog?: (line: string) => void;
  /** Server settings that override the measured ones, by name as in postgresql.conf. */
  settings?: Settings;
  /** The backup folder to which WAL is archived. */
  archiveTo?: string | undefined;
  /** The programs to run. Default: those that match the folder. */
  binaries?: Binaries | undefined;
  /** The user that runs it. Default: the owner of the cluster, else one that `serverUser` finds. */
  user?: ServerUser | null;
  /** Whether the caller already owns the folder, and will release it. */
  isOwned?: boolean;
  /** Default: those of this system. */
  ways?: Ways;
  /** For a server on a port. Default: a free one. */
  choosePort?: () => Promise<number>;
}

export interface RunningPostgres {
  connection: PostgresConnection;
  /** The same as a libpq URL (`postgresql://…?host=<socket folder>`, or with address and password), for psql and other programs. */
  url: string;
  /** Ends all sessions, checkpoints, stops the server and releases the folder. May be called more than once. */
  stop(): Promise<void>;
  /** Resolves when the server has permanently ended. A crash followed by a successful restart is only logged. */
  exited: Promise<PostgresEnd>;
}

/**
 * Starts the embedded PostgreSQL on a data folder, creates the cluster and its database on the first start, and keeps it running until
 * `stop()`. It stops with this process, however this process ends.
 *
 * Throws DataFolderInUse when another process owns the folder, and EmbeddedPostgresError when there are no binaries, the folder cannot be used,
 * or another version created it.
 */
export async function startPostgres({
  dataDir,
  onLog = () => {},
  settings = {},
  archiveTo,
  binaries: configuredBinaries,
  user: configuredUser,
  isOwned = false,
  ways = ownWays,
  choosePort,
}: StartPostgres): Promise<RunningPostgres> {
  const folder = resolve(dataDir);
  await makeDataFolder(folder);
  const ownership: Ownership = isOwned
    ? { release: async () => {} }
    : await lockFolder(folder).catch((error: unknown) => {
        throw explainAccess(error, folder);
      });
  try {
    // Without this, a data folder whose old cluster was moved away would get an empty one.
    await finishSwap(folder);
    const clusterFolder = join(folder, CLUSTER);
    const user = configuredUser === undefined ? serverUser(clusterFolder) : configuredUser;
    const binaries = configuredBinaries ?? (await findBinaries(clusterFolder, user));
    const instead = binaries.passedOver.length > 0 ? ` (${binaries.passedOver.join('; ')})` : '';
    onLog(`Starting PostgreSQL ${binaries.major} of ${binaries.folder} on ${clusterFolder}${instead}`);
    await initialise(clusterFolder, binaries, user, settings);
    await makePrivate(clusterFolder, user);
    if (archiveTo !== undefined) requireArchivePrograms(ways);
    const walFolder = archiveTo && (await claimArchive(resolve(archiveTo), clusterFolder, user));
    const served = await serve({
      dataFolder: folder,
      ways,
      choosePort,
      binaries,
      clusterFolder,
      user,
      settings,
      walFolder,
      onLog,
    });
    const exited = served.exited.then(async (end) => {
      await ownership.release();
      return end;
    });
    return {
      connection: served.connection,
      url: urlOf(served.connection),
      stop: async () => {
        served.stop();
        await exited;
      },
      exited,
    };
  } catch (error) {
    await ownership.release();
    throw explainAccess(error, folder);
  }
}

async function makeDataFolder(folder: string): Promise<void> {
  try {
    // Root's folder must be searchable, because the server runs as another user. Its content is private to that user.
    await makeFolder(folder, process.getuid?.() === 0 ? 0o711 : 0o700);
  } catch (error) {
    throw explainAccess(error, folder);
  }
}

/** Fixes the owner and mode of a cluster that was copied or restored, because PostgreSQL requires specific ones. */
async function makePrivate(clusterFolder: string, user: ServerUser | null): Promise<void> {
  await chmod(clusterFolder, 0o700);
  if (!user || (await stat(clusterFolder)).uid === user.uid) return;
  for (const name of await readdir(clusterFolder, { recursive: true })) {
    await lchown(join(clusterFolder, name), user.uid, user.gid);
  }
  // Last, so that an interrupted run is repeated.
  await chown(clusterFolder, user.uid, user.gid);
}

function explainAccess(error: unknown, folder: string): unknown {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new EmbeddedPostgresError(
      'disk_full',
      `The disk that holds ${folder} is full. Free some space and start again.`,
    );
  }
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return new EmbeddedPostgresError(
      'permission_denied',
      `The data folder ${folder} is not writable (${code}). Grant the user that runs Millrace write permission, or choose another folder with --data.`,
    );
  }
  if (code === 'EEXIST' || code === 'ENOTDIR') {
    return new EmbeddedPostgresError(
      'permission_denied',
      `The data folder ${folder} is not a folder. Choose another with --data.`,
    );
  }
  if (code === 'ENOENT') {
    return new EmbeddedPostgresError(
      'permission_denied',
      `The data folder ${folder} cannot be created. Choose another with --data.`,
    );
  }
  return error;
}
