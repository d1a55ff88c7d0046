import { setTimeout as sleep } from 'node:timers/promises';
import { lockFolder, type Ownership } from '@millrace/platform';
import { CannotServe } from './errors.ts';

const pollMs = 20;
const patienceMs = 30_000;

/** Runs `work` while no other process does so for the same folder. The lock of a killed process does not block others. */
export async function withLock<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const lock = await take(folder);
  try {
    return await work();
  } finally {
    await lock.release();
  }
}

async function take(folder: string): Promise<Ownership> {
  const startedAt = performance.now();
  for (;;) {
    try {
      return await lockFolder(folder);
    } catch (error) {
      if ((error as Error).name !== 'DataFolderInUse') throw error;
      if (performance.now() - startedAt > patienceMs)
        throw new CannotServe(`another process has locked the cache ${folder} for ${patienceMs / 1_000} s`);
    }
    await sleep(pollMs);
  }
}
