import { mkdir, readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { explainFolder, lockFolder, makeFolder } from '@millrace/platform';
import { BackupRefused } from './errors.ts';
import { readManifest, type Manifest } from './manifest.ts';

const BASE_FOLDER = 'base';
const DRAFT = 'draft-';

export const baseFolder = (backups: string): string => join(backups, BASE_FOLDER);
export const dataOf = (backups: string, name: string): string => join(baseFolder(backups), name, 'data');

/** The base backups of a folder, oldest first. Names are times, so their order is that of the backups. */
export async function baseNames(backups: string): Promise<string[]> {
  const names = await readdir(baseFolder(backups)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw explainFolder(error, backups);
  });
  return names.filter((name) => /^\d{8}T\d{6}Z/.test(name)).toSorted();
}

export async function readBackups(backups: string): Promise<Manifest[]> {
  const found: Manifest[] = [];
  for (const name of await baseNames(backups))
    found.push(await readManifest(join(baseFolder(backups), name)));
  return found;
}

/** Reads the newest base backup of a folder; undefined if it has none. Throws if it is damaged. */
export async function newestBackup(backups: string): Promise<Manifest | undefined> {
  const name = (await baseNames(backups)).at(-1);
  return name === undefined ? undefined : readManifest(join(baseFolder(backups), name));
}

/** Runs `act` as the only process that changes the backups of a folder and removes the leftovers of a killed one. */
export async function withBackupFolder<R>(backups: string, act: () => Promise<R>): Promise<R> {
  const bases = baseFolder(backups);
  await makeFolder(backups, 0o700);
  await makeFolder(bases, 0o700);
  const ownership = await lockFolder(bases).catch((error: unknown) => {
    if (!(error instanceof Error) || error.name !== 'DataFolderInUse') throw explainFolder(error, backups);
    const { pid } = error as Error & { pid: number };
    throw new BackupRefused(`Process ${pid} is creating a backup in ${backups}. Wait until it has ended.`);
  });
  try {
    for (const name of await readdir(bases))
      if (name.startsWith(DRAFT)) await rm(join(bases, name), { recursive: true, force: true });
    return await act();
  } finally {
    await ownership.release();
  }
}

/** A new folder for a base backup, which is complete when it is renamed. Its name is its time. */
export async function makeDraft(backups: string, at: Date): Promise<{ draft: string; name: string }> {
  const time = at.toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const existing = new Set(await baseNames(backups));
  let name = time;
  for (let n = 2; existing.has(name); n += 1) name = `${time}-${n}`;
  const draft = join(baseFolder(backups), `${DRAFT}${basename(name)}`);
  await mkdir(draft, { mode: 0o700 });
  return { draft, name };
}
