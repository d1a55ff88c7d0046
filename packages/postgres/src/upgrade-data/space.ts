import { readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { readableSize } from '@millrace/contract/plain';
import { UpgradeRefused } from './errors.ts';

/** The size of an empty cluster, with its WAL. */
const EMPTY_BYTES = 300 * 1024 ** 2;

/** Throws if the disk has no room for another copy of a cluster's tables and indexes. */
export async function requireSpace(dataFolder: string, clusterFolder: string): Promise<void> {
  const needed = EMPTY_BYTES + 1.1 * (await sizeOf(join(clusterFolder, 'base')));
  const free = await freeBytes(dataFolder);
  if (free >= needed) return;
  throw new UpgradeRefused(
    `The new database needs up to ${readableSize(needed)}, and the disk of ${dataFolder} has ${readableSize(free)}. Free some space and try again; nothing was changed.`,
  );
}

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** Whether an error was caused by a full disk. */
export function saysDiskFull(error: unknown): boolean {
  const { code, message = '' } = error as { code?: unknown; message?: string };
  return (
    ['ENOSPC', 'EDQUOT', 'disk_full'].includes(String(code)) || /no space left|disk quota/i.test(message)
  );
}

const WAL_FILE_BYTES = 16 * 1024 ** 2;

/** Whether the disk has no room for another WAL file. PostgreSQL then stops immediately, and its clients only see a lost connection. */
export const isOutOfSpace = async (folder: string): Promise<boolean> =>
  (await freeBytes(folder)) < WAL_FILE_BYTES;

async function sizeOf(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size;
  }
  return bytes;
}
