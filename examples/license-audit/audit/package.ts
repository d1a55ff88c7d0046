import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface FoundPackage {
  readonly name: string;
  readonly version: string;
  readonly manifest: Readonly<Record<string, unknown>>;
  /** Files that hold the text of a licence. */
  readonly licenceTexts: readonly string[];
}

const licenceText = /^(?:un)?licen[cs]e|^copying/i;

/** Reads what an installed package says of itself. */
export async function readPackage(folder: string): Promise<FoundPackage> {
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Record<
    string,
    unknown
  >;
  const files = await readdir(folder);
  return {
    name: String(manifest['name']),
    version: String(manifest['version']),
    manifest,
    licenceTexts: files.filter((file) => licenceText.test(file)).toSorted(),
  };
}

/** Every package installed under a `node_modules` folder, nested ones too. Links (workspace packages) are left out. */
export async function installedPackages(modules: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(modules, { withFileTypes: true })) {
    const path = join(modules, entry.name);
    if (!entry.isDirectory() || entry.name.startsWith('.')) continue;
    if (entry.name.startsWith('@')) {
      found.push(...(await installedPackages(path)));
      continue;
    }
    const inside = await readdir(path);
    if (inside.includes('package.json')) found.push(path);
    if (inside.includes('node_modules')) found.push(...(await installedPackages(join(path, 'node_modules'))));
  }
  return found.toSorted();
}
