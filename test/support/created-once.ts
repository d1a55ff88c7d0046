import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { inject } from 'vitest';

/** A folder of this run that the first test file that needs it fills, while others wait. */
export async function createdOnce(name: string, fill: (half: string) => Promise<void>): Promise<string> {
  const folder = join(inject('runFolder'), name);
  const lock = `${folder}.lock`;
  while (!existsSync(folder)) {
    const isMine = await mkdir(lock).then(
      () => true,
      () => false,
    );
    if (!isMine) {
      await pause(100);
      continue;
    }
    try {
      // The previous holder of the lock may have finished in between.
      if (existsSync(folder)) break;
      const half = await mkdtemp(`${folder}.`);
      await fill(half);
      await rename(half, folder);
    } finally {
      await rmdir(lock);
    }
  }
  return folder;
}
