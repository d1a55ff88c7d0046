import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

const skipped = new Set(['node_modules', 'dist', 'build', 'out', 'coverage']);

/** All folders named `trigger`, as the published SDK finds them in a project without `dirs`. Absolute, in a stable order. */
export async function triggerFolders(projectDir: string): Promise<string[]> {
  const found: string[] = [];
  const search = async (folder: string): Promise<void> => {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      if (!entry.isDirectory() || entry.name.startsWith('.') || skipped.has(entry.name)) continue;
      const path = join(folder, entry.name);
      if (entry.name === 'trigger') found.push(path);
      else await search(path);
    }
  };
  await search(projectDir);
  return found.toSorted();
}
