import { randomBytes } from 'node:crypto';
import { link, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { renameOver } from './rename.ts';
import { DataFolderInUse } from './data-folder-in-use.ts';
import { isRunning, processStart } from './process-start.ts';

export interface Ownership {
  release(): Promise<void>;
}

interface Owner {
  /** 0 after the owner has released the folder. */
  pid: number;
  birth: string | null;
}

/**
 * Makes this process the only owner of a folder, or throws DataFolderInUse.
 *
 * Ownership is a chain of files `owner.1`, `owner.2`, …. The highest one counts, but only while the process named in it is alive, so kill
 * -9 leaves nothing to clean up. A process that finds a dead owner N creates N+1 with link(2), which succeeds for exactly one of several
 * processes. The highest file is never deleted: a process that slept between reading and linking finds its number taken, or a higher one,
 * and gives up.
 */
export async function lockFolder(folder: string): Promise<Ownership> {
  const draft = draftName(folder);
  await writeFile(
    draft,
    JSON.stringify({ pid: process.pid, birth: processStart(process.pid) } satisfies Owner),
  );
  try {
    for (;;) {
      const highest = Math.max(0, ...(await generations(folder)));
      if (highest > 0) {
        const owner = await readOwner(folder, highest);
        if (isAlive(owner)) throw new DataFolderInUse(folder, owner.pid);
      }
      const generation = highest + 1;
      if (!(await publish(draft, join(folder, `owner.${generation}`)))) continue;
      const all = await generations(folder);
      if (Math.max(...all) > generation) {
        await rm(join(folder, `owner.${generation}`), { force: true });
        continue;
      }
      for (const old of all) if (old < generation) await rm(join(folder, `owner.${old}`), { force: true });
      return { release: () => release(folder, generation) };
    }
  } finally {
    await rm(draft, { force: true });
  }
}

async function generations(folder: string): Promise<number[]> {
  const names = await readdir(folder);
  return names.flatMap((name) => /^owner\.(\d+)$/.exec(name)?.[1] ?? []).map(Number);
}

async function readOwner(folder: string, generation: number): Promise<Owner> {
  try {
    return JSON.parse(await readFile(join(folder, `owner.${generation}`), 'utf8')) as Owner;
  } catch {
    // Removed by a newer owner, or truncated by a power failure: not a live owner in either case.
    return { pid: 0, birth: null };
  }
}

function isAlive(owner: Owner): boolean {
  if (owner.pid === 0 || !isRunning(owner.pid)) return false;
  const birth = processStart(owner.pid);
  return birth === null || owner.birth === null || birth === owner.birth;
}

async function publish(draft: string, file: string): Promise<boolean> {
  try {
    await link(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function release(folder: string, generation: number): Promise<void> {
  const draft = draftName(folder);
  try {
    await writeFile(draft, JSON.stringify({ pid: 0, birth: null } satisfies Owner));
    await renameOver(draft, join(folder, `owner.${generation}`));
  } catch (error) {
    await rm(draft, { force: true });
    const { code } = error as NodeJS.ErrnoException;
    // A full disk cannot store any text. An empty file names no owner.
    if (code === 'ENOSPC' || code === 'EDQUOT') await truncate(join(folder, `owner.${generation}`));
    // The folder was removed.
    else if (code !== 'ENOENT') throw error;
  }
}

function draftName(folder: string): string {
  return join(folder, `owner.draft-${process.pid}-${randomBytes(4).toString('hex')}`);
}
