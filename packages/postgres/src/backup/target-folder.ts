import { chmod, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { explainFolder, lockFolder, makeFolder, renameOver } from '@millrace/platform';
import { BackupRefused } from './errors.ts';

/**
 * Files that a folder may contain and still count as empty: owners, the master key, the root of a file system, and leftovers of a killed
 * restore.
 */
const ignored = /^(?:owner\..*|master\.key|lost\+found|restore\.new-\d+)$/;

/**
 * Fills a data folder through a draft inside it, because the folder may be a separate file system. The cluster appears with one rename when
 * `fill` has created it; otherwise nothing is left.
 */
export async function fillDataFolder<R>(dataFolder: string, fill: (draft: string) => Promise<R>): Promise<R> {
  const isNew = await stat(dataFolder).then(
    () => false,
    () => true,
  );
  // Root's folder must be searchable, since the server runs as another user.
  const mode = process.getuid?.() === 0 ? 0o711 : 0o700;
  await makeFolder(dataFolder, mode);
  // Checked before locking, so that the folder of a running server is not merely reported as in use.
  await refuseContent(dataFolder);
  let isFilled = false;
  const ownership = await lockFolder(dataFolder).catch((error: unknown) => {
    if (!(error instanceof Error) || error.name !== 'DataFolderInUse') throw explainFolder(error, dataFolder);
    const { pid } = error as Error & { pid: number };
    throw new BackupRefused(`Process ${pid} uses ${dataFolder}. Wait until it has ended.`);
  });
  try {
    await refuseContent(dataFolder);
    await sweepDrafts(dataFolder);
    const draft = join(dataFolder, `restore.new-${process.pid}`);
    try {
      await mkdir(draft);
      await chmod(draft, mode);
      const result = await fill(draft);
      await renameOver(join(draft, 'postgres'), join(dataFolder, 'postgres'));
      isFilled = true;
      return result;
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
  } finally {
    await ownership.release();
    if (isNew && !isFilled) await rm(dataFolder, { recursive: true, force: true });
  }
}

async function refuseContent(dataFolder: string): Promise<void> {
  const content = (await readdir(dataFolder)).filter((name) => !ignored.test(name));
  if (content.length > 0) {
    throw new BackupRefused(
      `The folder ${dataFolder} is not empty: it contains ${content.slice(0, 3).join(', ')}. Restore to a new folder; nothing is ever overwritten.`,
    );
  }
}

/** Removes leftovers of killed restores. */
async function sweepDrafts(dataFolder: string): Promise<void> {
  for (const name of await readdir(dataFolder))
    if (name.startsWith('restore.new-')) await rm(join(dataFolder, name), { recursive: true, force: true });
}
