import { readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { readableSize } from '@millrace/contract/plain';
import { UpgradeRefused } from './errors.ts';

/** What an empty cluster takes, with its WAL. */
const EMPTY_BYTES = 300 * 1024 ** 2;

/** Throws if the disk has no room for another copy of a cluster's tables and indexes. */
export async function requireSpace(dataFolder: string, clusterFolder: string): Promise<void> {
  const needed = EMPTY_BYTES + 1.1 * (await sizeOf(join(clusterFolder, 'base')));
  const { bavail, bsize } = await statfs(dataFolder);
  const free = bavail * bsize;
  if (free >= needed) return;
  throw new UpgradeRefused(
    `The new database needs up to ${readableSize(needed)}, and the disk of ${dataFolder} has ${readableSize(free)}. Free some space and try again; nothing was changed.`,
  );
}

async function sizeOf(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size;
  }
  return bytes;
}
