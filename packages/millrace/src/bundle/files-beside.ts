import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Output } from './build.ts';

/** Native modules that code loads from the folder of its source, and the schema of a Prisma client. */
const loaded = /\.(?:node|wasm)$|^schema\.prisma$/;

/** The files that modules of the project load from these folders, such as the engine of a Prisma client that was generated into the workspace. */
export async function filesBeside(
  folders: ReadonlySet<string>,
  pathBelowRoot: (file: string) => string,
): Promise<Output[]> {
  const files: Output[] = [];
  for (const folder of [...folders].toSorted())
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      if (!entry.isFile() || !loaded.test(entry.name)) continue;
      const file = join(folder, entry.name);
      files.push({ path: pathBelowRoot(file), contents: await readFile(file) });
    }
  return files;
}
