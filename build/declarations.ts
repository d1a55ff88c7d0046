/**
 * Copies the type declarations that are reachable from `exports` from `types`, where the compiler writes all of them, to `dist`. Declarations
 * of private packages are copied into a folder with the name of the package.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { glob } from 'tinyglobby';
import { exportedModules } from './exported-modules.ts';
import { publishedPackages, type PublishedPackage } from './packages.ts';
import { filesOfEntries, withoutEntries } from './private-entries.ts';
import { root } from './up-to-date.ts';

/** `import … from './x.js'`, `export … from './x.js'` and `import('./x.js')`, outside of comments. */
const comment = /\/\*[\s\S]*?\*\//g;
const reference = /(?:\bfrom|\bimport\()\s*['"](\.[^'"\n]+)['"]/g;

async function copyDeclarations({ folder, includes = [] }: PublishedPackage): Promise<void> {
  const packageFolder = join(root, 'packages', folder);
  const dist = join(packageFolder, 'dist');
  const findFile = await filesOfEntries(includes);
  /** The declarations of a file below `dist`, as written by the compiler. */
  const written = (file: string): string => {
    const included = includes.find((name) => file.startsWith(`${name}/`));
    return included === undefined
      ? join(packageFolder, 'types', file)
      : join(root, 'packages', included, 'types', file.slice(included.length + 1));
  };
  const reached = new Map<string, string>();
  const open = (await exportedModules(packageFolder)).map((module) => `${module}.d.ts`);
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (reached.has(file)) continue;
    const from = dirname(file);
    const pathTo = (target: string): string => relative(from, target).replace(/^(?!\.)/, './');
    const text = withoutEntries(await readFile(written(file), 'utf8'), findFile, pathTo);
    reached.set(file, text);
    for (const [, path = ''] of text.replaceAll(comment, '').matchAll(reference)) {
      open.push(join(from, path.replace(/\.[jt]s$/, '.d.ts')));
    }
  }
  const old = await glob('**/*.d.ts', { cwd: dist });
  await Promise.all(old.filter((file) => !reached.has(file)).map((file) => rm(join(dist, file))));
  for (const [file, text] of reached) {
    await mkdir(dirname(join(dist, file)), { recursive: true });
    await writeFile(join(dist, file), text);
  }
}

await Promise.all(publishedPackages.map(copyDeclarations));
