import { rename } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { isFolder } from './is-folder.ts';
import { ownWays, type Ways } from './ways.ts';

/** What Windows answers while somebody has the file open, such as a virus scanner. */
const busy = new Set(['EPERM', 'EACCES', 'EBUSY']);
const patienceMs = 2_000;

/**
 * Renames a file or folder, in the place of a file if there is one. Windows renames and replaces nothing that is open: there it tries for
 * two seconds. A folder is never replaced on Windows, so that is reported at once.
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
