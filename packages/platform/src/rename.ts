import { rename } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { isFolder } from './is-folder.ts';
import { ownWays, type Ways } from './ways.ts';

/** Error codes on Windows while another program has the file open, such as a virus scanner. */
const busy = new Set(['EPERM', 'EACCES', 'EBUSY']);
const patienceMs = 2_000;

/**
 * Renames a file or folder, replacing an existing file. Windows cannot rename or replace anything that is open, so there it retries for two
 * seconds. A folder is never replaced on Windows, so that is reported immediately.
 */
export async function renameOver(from: string, to: string, ways: Ways = ownWays): Promise<void> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    try {
      return await rename(from, to);
    } catch (error) {
      const isBusy = busy.has((error as NodeJS.ErrnoException).code ?? '');
      if (ways === 'unix' || !isBusy || Date.now() > deadline || (await isFolder(to))) throw error;
    }
    await wait(20);
  }
}
