/** Records the inputs of a build, so that it is repeated only when one of them has changed. */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../', import.meta.url));
export const cacheFolder = join(root, 'node_modules/.cache');

const skipped = /(?:^|\/)(?:node_modules|dist|types)(?:\/|$)|\.test\.tsx?$|\.md$/;

/**
 * Returns `undefined` if the build `name` has already been done with the current `inputs`, files and folders below the root. Otherwise a
 * function that records it as done.
 */
export async function outdated(
  name: string,
  inputs: readonly string[],
): Promise<(() => Promise<void>) | undefined> {
  const stamp = join(cacheFolder, name);
  const digest = await digestOf((await Promise.all(inputs.map(filesOf))).flat());
  if ((await readFile(stamp, 'utf8').catch(() => '')) === digest) return undefined;
  return async () => {
    await mkdir(dirname(stamp), { recursive: true });
    await writeFile(stamp, digest);
  };
}

async function filesOf(path: string): Promise<string[]> {
  if (/\.\w+$/.test(path)) return [path];
  const entries = await readdir(join(root, path), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((file) => !skipped.test(file))
    .toSorted();
}

async function digestOf(files: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file}\0`).update(await readFile(join(root, file)));
  return hash.digest('hex');
}
