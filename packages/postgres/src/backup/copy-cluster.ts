import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { inParallel } from '@millrace/platform';
import { copyFile } from './copy-file.ts';
import type { CopiedFile } from './manifest.ts';

/** Folders whose content PostgreSQL recreates, and WAL, which is archived separately. They are copied empty. */
const emptied = new Set([
  'pg_wal',
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
]);
const needed = ['pg_wal/archive_status', 'pg_wal/summaries'];
/** Files of the running server and of earlier restores, and temporary tables and results. */
const left =
  /^(?:postmaster\.(?:pid|opts)|backup_label(?:\.old)?|tablespace_map(?:\.old)?|recovery\.signal|standby\.signal|current_logfiles|pg_internal\.init.*|pgsql_tmp.*|t\d+_\d+.*|.+\.new-[0-9a-f]+)$/;
/** Copied last, because it contains the position up to which the other files are written. */
const CONTROL = 'global/pg_control';

const AT_ONCE = 8;

export interface Copied {
  readonly folders: readonly string[];
  readonly files: readonly CopiedFile[];
}

/**
 * Copies the files of a cluster between the start and the stop of a backup. Files that are deleted in the meantime are skipped: WAL contains
 * them.
 */
export async function copyCluster(cluster: string, to: string, signal: AbortSignal): Promise<Copied> {
  await mkdir(to, { mode: 0o700 });
  const { folders, paths } = await list(cluster);
  for (const folder of folders) await mkdir(join(to, folder), { mode: 0o700 });
  const files: CopiedFile[] = [];
  const copy = async (path: string): Promise<void> => {
    signal.throwIfAborted();
    try {
      files.push({ path, ...(await copyFile(join(cluster, path), join(to, path), { flush: true })) });
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  };
  await inParallel(
    paths.filter((path) => path !== CONTROL),
    AT_ONCE,
    copy,
  );
  await copy(CONTROL);
  return { folders, files: files.toSorted((a, b) => (a.path < b.path ? -1 : 1)) };
}

async function list(cluster: string): Promise<{ folders: string[]; paths: string[] }> {
  const folders: string[] = [];
  const paths: string[] = [];
  const walk = async (parent: string): Promise<void> => {
    const entries = await readdir(join(cluster, parent), { withFileTypes: true }).catch((error: unknown) => {
      if (isMissing(error)) return [];
      throw error;
    });
    for (const entry of entries) {
      const path = parent === '' ? entry.name : `${parent}/${entry.name}`;
      if (left.test(entry.name)) continue;
      if (entry.isDirectory()) {
        folders.push(path);
        if (!emptied.has(path)) await walk(path);
      } else if (entry.isFile()) paths.push(path);
    }
  };
  await walk('');
  for (const folder of needed) folders.push(folder);
  return { folders, paths };
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';
