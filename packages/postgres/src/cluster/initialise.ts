import { existsSync } from 'node:fs';
import { chown, mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { programFile, renameOver, syncFolder } from '@millrace/platform';
import type { Binaries } from './binaries.ts';
import { explainOutput } from './errors.ts';
import { runProgram, runSingleUser } from './run-program.ts';
import type { ServerUser } from './server-user.ts';
import type { Settings } from './settings.ts';
import { folderDescriptors } from './folder-descriptors.ts';

export const DATABASE = 'millrace';
export const USERNAME = 'millrace';

/**
 * Creates the cluster with its database, unless it exists. It is created in a draft folder and moved into place when it is complete and on
 * disk, so being killed at any moment leaves either a complete cluster or none.
 */
export async function initialise(
  clusterFolder: string,
  binaries: Binaries,
  user: ServerUser | null,
  settings: Settings,
): Promise<void> {
  if (existsSync(join(clusterFolder, 'PG_VERSION'))) return;
  const parent = dirname(clusterFolder);
  await sweepDrafts(parent);
  const draft = `${clusterFolder}.new-${process.pid}`;
  await mkdir(draft, { mode: 0o700 });
  if (user) await chown(draft, user.uid, user.gid);
  const visible = folderDescriptors([draft], user);
  const [target = draft] = visible.paths;
  try {
    await runProgram(
      user,
      programFile(binaries.folder, 'initdb'),
      [
        `--pgdata=${target}`,
        '--locale=C',
        '--encoding=UTF8',
        `--username=${USERNAME}`,
        // Not used, because each start writes its own rules before the server has a socket.
        '--auth=reject',
        '--no-instructions',
        ...(settings['fsync'] === 'off' ? ['--no-sync'] : []),
      ],
      '',
      visible.descriptors,
    );
    // Single-user mode, so that a cluster never exists without its database.
    await runSingleUser(
      user,
      programFile(binaries.folder, 'postgres'),
      { cluster: target, database: 'template1', settings: { fsync: settings['fsync'] ?? 'on' } },
      `CREATE DATABASE ${DATABASE}\n`,
      visible.descriptors,
    );
    await renameOver(draft, clusterFolder);
    await syncFolder(parent);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw explainOutput(
      'initdb_failed',
      'The database could not be created',
      parent,
      (error as Error).message,
    );
  } finally {
    visible.close();
  }
}

/** Writes all files of a stopped cluster to disk, if it was filled without `fsync`. */
export async function syncCluster(
  clusterFolder: string,
  binaries: Binaries,
  user: ServerUser | null,
): Promise<void> {
  const visible = folderDescriptors([clusterFolder], user);
  const [target = clusterFolder] = visible.paths;
  try {
    const args = ['--sync-only', `--pgdata=${target}`];
    await runProgram(user, programFile(binaries.folder, 'initdb'), args, '', visible.descriptors);
  } finally {
    visible.close();
  }
}

async function sweepDrafts(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    // An initdb whose parent was killed may still write into its draft; a later start removes it.
    if (/\.new-\d+$/.test(name))
      await rm(join(parent, name), { recursive: true, force: true }).catch(() => {});
  }
}
