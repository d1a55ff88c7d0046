import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readdir, readlink, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { BundleFile } from '@millrace/contract/runner';
import { inParallel } from '@millrace/platform';
import { CannotServe } from './errors.ts';
import { packagesLink } from './unpack-bundle.ts';

/** Number of files that are read concurrently. */
const atOnce = 8;

async function digestOf(file: string): Promise<string> {
  const digest = createHash('sha256');
  await pipeline(createReadStream(file), digest);
  return digest.digest('hex');
}

/** Whether the unpacked files of a bundle are unchanged. */
export async function isBundleIntact(
  folder: string,
  files: readonly BundleFile[],
  layer: string | undefined,
): Promise<boolean> {
  try {
    if (layer !== undefined && (await readlink(join(folder, 'node_modules'))) !== packagesLink(layer))
      return false;
    let same = true;
    await inParallel(files, atOnce, async ({ path, digest }) => {
      const file = join(folder, path);
      if (!(await lstat(file)).isFile() || (await digestOf(file)) !== digest) same = false;
    });
    return same;
  } catch {
    // Missing or unreadable.
    return false;
  }
}

/** The contents of a folder of packages, by path: digests of files and targets of links. Rejects a link that leaves the folder. */
export async function contentOf(folder: string): Promise<Record<string, string>> {
  const root = (await realpath(folder)) + sep;
  const found: string[] = [];
  const content: Record<string, string> = {};
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name).slice(folder.length + 1);
    if (entry.isSymbolicLink()) {
      const target = await realpath(join(folder, path)).catch(() => root);
      if (!`${target}${sep}`.startsWith(root))
        throw new CannotServe(`its package layer has ${path}, a link that leaves the layer`);
      content[path] = `link ${await readlink(join(folder, path))}`;
    } else if (entry.isFile()) found.push(path);
  }
  await inParallel(found, atOnce, async (path) => {
    content[path] = await digestOf(join(folder, path));
  });
  return Object.fromEntries(Object.entries(content).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
