import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startPostgres } from 'millrace/embedded';

export type Data = Awaited<ReturnType<typeof startPostgres>>;

/** The data need not survive a power failure, because damaged data is recreated. */
const settings = {
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  shared_buffers: '64MB',
  max_connections: '400',
  autovacuum_naptime: '60s',
};

const dataDir = (folder: string): string => join(folder, 'data');

/** Starts PostgreSQL in a folder that persists between runs. Loads nothing of the server. */
export const startData = (folder: string, onLog: (line: string) => void): Promise<Data> =>
  startPostgres({ dataDir: dataDir(folder), settings, onLog });

export const removeData = (folder: string): Promise<void> =>
  rm(dataDir(folder), { recursive: true, force: true });

/** Whether creating the data again would help. It does not if another process owns the folder, or if there are no binaries. */
export function isDamage(error: unknown): boolean {
  const { name, code } = error as { name?: unknown; code?: unknown };
  return (
    name !== 'DataFolderInUse' && !['no_binaries', 'disk_full', 'permission_denied'].includes(String(code))
  );
}
