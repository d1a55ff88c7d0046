import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The modules in a package's `exports`, relative to its `src`, `types` and `dist`, without extension. A program has none. */
export async function exportedModules(packageFolder: string): Promise<string[]> {
  const { exports = {} } = JSON.parse(await readFile(join(packageFolder, 'package.json'), 'utf8')) as {
    exports?: Readonly<Record<string, { readonly default: string }>>;
  };
  return Object.values(exports).map(({ default: file }) => file.replace(/^\.\/dist\/(.*)\.js$/, '$1'));
}
