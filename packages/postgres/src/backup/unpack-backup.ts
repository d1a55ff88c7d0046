import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { baseFolder, dataOf } from './backup-folder.ts';
import { copyFile } from './copy-file.ts';
import { BackupFailed } from './errors.ts';
import type { Manifest } from './manifest.ts';

/** Copies the files of a base backup to a new folder and verifies their digests. */
export async function unpackBackup(
  backups: string,
  { name, folders, files }: Manifest,
  to: string,
  signal: AbortSignal,
): Promise<void> {
  const from = dataOf(backups, name);
  await mkdir(to, { mode: 0o700 });
  for (const folder of folders) await mkdir(join(to, folder), { mode: 0o700 });
  for (const { path, sha256 } of files) {
    signal.throwIfAborted();
    // PostgreSQL syncs the whole folder when it recovers it.
    const copied = await copyFile(join(from, path), join(to, path), { flush: false }).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') throw damaged(backups, name, `the file ${path} is missing`);
        throw error;
      },
    );
    if (copied.sha256 !== sha256)
      throw damaged(backups, name, `the digest of the file ${path} does not match`);
  }
}

const damaged = (backups: string, name: string, why: string): BackupFailed =>
  new BackupFailed(
    `The backup ${join(baseFolder(backups), name)} is damaged: ${why}. Nothing was restored; use another one.`,
  );
