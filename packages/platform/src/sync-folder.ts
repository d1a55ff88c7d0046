import { open } from 'node:fs/promises';
import { ownWays, type Ways } from './ways.ts';

/** Writes the names in a folder to disk. Windows has no call for that, because NTFS keeps them in its own journal. */
export async function syncFolder(folder: string, ways: Ways = ownWays): Promise<void> {
  if (ways === 'windows') return;
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}
