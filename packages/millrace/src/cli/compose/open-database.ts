import { readAddress, type Database } from '@millrace/server';
import { runningConnection, startPostgres } from '@millrace/postgres';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import type { Cleanup } from './cleanup.ts';

export interface OpenDatabase {
  readonly database: Database;
  /** A direct connection without a pooler, if it has another address. */
  readonly directDatabase?: Database | undefined;
  /** Rejects when the embedded PostgreSQL has permanently ended; never settles otherwise. */
  readonly lost: Promise<never>;
}

interface Embedded {
  readonly onLog?: (line: string) => void;
  /** The backup folder to which WAL is archived. */
  readonly archiveTo?: string | undefined;
  /** For a short start that does not archive: WAL that a server has yet to archive is not removed. */
  readonly keepsWal?: boolean;
}

/** Starts the embedded PostgreSQL on a folder. */
export async function embeddedDatabase(
  dataDir: string,
  cleanup: Cleanup,
  { onLog, archiveTo, keepsWal }: Embedded = {},
): Promise<OpenDatabase> {
  const running = await startPostgres({
    dataDir,
    archiveTo,
    ...(keepsWal && { settings: { wal_keep_size: '1TB' } }),
    ...(onLog && { onLog }),
  });
  cleanup.add(() => running.stop());
  const lost = running.exited.then(({ error }) => {
    if (error === null) return new Promise<never>(() => {});
    throw new CommandFailed(exitCodes.failed, `The embedded PostgreSQL has stopped: ${error.message}`);
  });
  // Prevents an unhandled rejection while the server is starting.
  lost.catch(() => {});
  return { database: running.connection, lost };
}

/** The embedded PostgreSQL of a folder: the running one, or one that is started for this purpose. */
export async function embeddedOrRunning(
  folder: string,
  cleanup: Cleanup,
): Promise<Pick<OpenDatabase, 'database'>> {
  try {
    return await embeddedDatabase(folder, cleanup, { keepsWal: true });
  } catch (error) {
    const inUse = error instanceof Error && error.name === 'DataFolderInUse';
    const database = inUse ? await runningConnection(folder) : undefined;
    if (!database) throw error;
    return { database };
  }
}

/** The databases of DATABASE_URL and DATABASE_DIRECT_URL. Throws `DatabaseRefused` if one of them is not an address. */
export function externalDatabase(url: string, directUrl?: string): OpenDatabase {
  readAddress(url, 'DATABASE_URL');
  if (directUrl !== undefined) readAddress(directUrl, 'DATABASE_DIRECT_URL');
  return { database: url, directDatabase: directUrl, lost: new Promise<never>(() => {}) };
}
