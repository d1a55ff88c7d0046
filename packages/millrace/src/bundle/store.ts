import { existsSync } from 'node:fs';
import { mkdir, rm, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder, renameOver } from '@millrace/platform';

/** Writes a build atomically, even if this command runs twice. */
export async function store(
  dir: string,
  outputs: readonly { readonly path: string; readonly contents: Uint8Array }[],
): Promise<void> {
  if (existsSync(dir)) {
    // Pruning is based on age, so a build that is reused gets a new time.
    await utimes(dir, new Date(), new Date());
    return;
  }
  const buildsDir = dirname(dir);
  await makeFolder(buildsDir);
  await writeFile(join(buildsDir, '.gitignore'), '*\n');
  const half = join(buildsDir, `.half-${process.pid}-${Math.random().toString(36).slice(2)}`);
  await mkdir(half);
  for (const { path, contents } of outputs) {
    await mkdir(join(half, dirname(path)), { recursive: true });
    await writeFile(join(half, path), contents);
  }
  await renameOver(half, dir).catch(async (error: unknown) => {
    await rm(half, { recursive: true, force: true });
    if (!existsSync(dir)) throw error;
  });
}
