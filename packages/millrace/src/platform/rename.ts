import { rename } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { ownWays, type Ways } from './ways.ts';

/** What Windows answers while somebody has the file open, such as a virus scanner. */
const busy = new Set(['EPERM', 'EACCES', 'EBUSY']);
const patienceMs = 2_000;

/** Renames a file or folder, in the place of a file if there is one. Where an open file cannot be replaced it tries for two seconds. */
export async function renameOver(from: string, to: string, ways: Ways = ownWays): Promise<void> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    try {
      return await rename(from, to);
    } catch (error) {
      const isBusy = busy.has((error as NodeJS.ErrnoException).code ?? '');
      if (ways === 'unix' || !isBusy || Date.now() > deadline) throw error;
    }
    await wait(20);
  }
}
