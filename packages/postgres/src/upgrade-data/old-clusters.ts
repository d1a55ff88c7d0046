import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CLUSTER, isSwapping } from '../cluster/index.ts';
import { UpgradeRefused } from './errors.ts';

const OLD_CLUSTER = /^postgres\.\d+-kept(?:-\d+)?$/;

/** An unused name for the old cluster in the data folder. */
export function oldClusterName(dataFolder: string, major: number): string {
  const name = `${CLUSTER}.${major}-kept`;
  for (let n = 1; ; n += 1) {
    const candidate = n === 1 ? name : `${name}-${n}`;
    if (!existsSync(join(dataFolder, candidate))) return candidate;
  }
}

/** The folders of the clusters kept by upgrades. */
export async function oldClusters(dataFolder: string): Promise<string[]> {
  const names = await readdir(dataFolder);
  return names
    .filter((name) => OLD_CLUSTER.test(name))
    .toSorted()
    .map((name) => join(dataFolder, name));
}

/** Deletes the clusters kept by upgrades; returns their folders. A server may be running on the data folder. */
export async function removeOldClusters(dataFolder: string): Promise<string[]> {
  if (isSwapping(dataFolder) || !existsSync(join(dataFolder, CLUSTER, 'PG_VERSION'))) {
    throw new UpgradeRefused(
      `No upgraded database in ${dataFolder}. Run \`millrace upgrade-data\` without --remove-old first.`,
    );
  }
  const folders = await oldClusters(dataFolder);
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
  return folders;
}
