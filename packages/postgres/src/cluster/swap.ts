import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { renameOver, syncFolder } from '@millrace/platform';

/** The folder of the cluster in a data folder. */
export const CLUSTER = 'postgres';
const MARKER = 'upgrade.json';

/** Names of folders in the data folder. */
interface Swap {
  /** The folder of the new cluster, complete and on disk. */
  readonly draft: string;
  /** The future name of the old cluster. */
  readonly oldCluster: string;
}

/**
 * Replaces the cluster of a data folder by that of a draft and keeps the old one. Once the marker is written, the data folder has the new
 * cluster: if the process dies before the renames, `finishSwap` does them. The caller owns the folder.
 */
export async function swapClusters(dataFolder: string, swap: Swap): Promise<void> {
  const draft = join(dataFolder, `${MARKER}.new`);
  await writeFile(draft, JSON.stringify(swap), { flush: true });
  await renameOver(draft, join(dataFolder, MARKER));
  await finishSwap(dataFolder);
}

/** Whether a replacement was started and not finished. */
export const isSwapping = (dataFolder: string): boolean => existsSync(join(dataFolder, MARKER));

/** Completes a replacement that was started; does nothing if there is none. The caller owns the folder. */
export async function finishSwap(dataFolder: string): Promise<void> {
  const marker = join(dataFolder, MARKER);
  const text = await readFile(marker, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return;
  await syncFolder(dataFolder);
  const { draft, oldCluster } = JSON.parse(text) as Swap;
  const cluster = join(dataFolder, CLUSTER);
  const newCluster = join(dataFolder, draft, CLUSTER);
  if (existsSync(newCluster)) {
    // Missing if a process died between the two renames.
    if (existsSync(cluster)) await renameOver(cluster, join(dataFolder, oldCluster));
    await syncFolder(dataFolder);
    await renameOver(newCluster, cluster);
  }
  await syncFolder(dataFolder);
  await rm(marker);
  await rm(join(dataFolder, draft), { recursive: true, force: true });
}
