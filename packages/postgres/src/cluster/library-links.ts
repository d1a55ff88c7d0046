import { lstat, readFile, symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

/**
 * Creates the library links of a binaries tree, without which the server cannot load its libraries. The npm package creates them in its install
 * script, which `npm --ignore-scripts` does not run.
 *
 * Returns false when links are missing and cannot be created (a read-only or foreign installation).
 */
export async function restoreLinks(tree: string): Promise<boolean> {
  for (const { file, at } of await listedLinks(tree)) {
    if (await exists(at)) continue;
    try {
      await symlink(relative(dirname(at), file), at);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EEXIST') continue;
      if (code === 'EROFS' || code === 'EACCES' || code === 'EPERM') return false;
      throw error;
    }
  }
  return true;
}

async function listedLinks(tree: string): Promise<{ file: string; at: string }[]> {
  let text: string;
  try {
    text = await readFile(join(tree, 'pg-symlinks.json'), 'utf8');
  } catch {
    return [];
  }
  // Paths are relative to the package's folder, `native/…`, regardless of the name of the tree itself.
  const inTree = (path: string): string => join(tree, relative('native', path));
  const entries = JSON.parse(text) as { source: string; target: string }[];
  return entries.map(({ source, target }) => ({ file: inTree(source), at: inTree(target) }));
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
