/** Copies the type declarations that `exports` reaches from `types`, where the compiler writes all of them, to `dist`. */
import { cp, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { glob } from 'tinyglobby';
import { exportedModules } from './exported-modules.ts';
import { publishedPackages } from './packages.ts';
import { root } from './up-to-date.ts';

/** `import … from './x.js'`, `export … from './x.js'` and `import('./x.js')`, outside of comments. */
const comment = /\/\*[\s\S]*?\*\//g;
const reference = /(?:\bfrom|\bimport\()\s*['"](\.[^'"\n]+)['"]/g;

async function copyDeclarations(packageFolder: string): Promise<void> {
  const types = join(packageFolder, 'types');
  const dist = join(packageFolder, 'dist');
  const reached = new Set<string>();
  const open = (await exportedModules(packageFolder)).map((module) => `${module}.d.ts`);
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (reached.has(file)) continue;
    reached.add(file);
    const text = (await readFile(join(types, file), 'utf8')).replaceAll(comment, '');
    for (const [, path = ''] of text.matchAll(reference)) {
      open.push(join(dirname(file), path.replace(/\.[jt]s$/, '.d.ts')));
    }
  }
  const old = await glob('**/*.d.ts', { cwd: dist });
  await Promise.all(old.filter((file) => !reached.has(file)).map((file) => rm(join(dist, file))));
  await Promise.all([...reached].map((file) => cp(join(types, file), join(dist, file))));
}

await Promise.all(publishedPackages.map(({ folder }) => copyDeclarations(join(root, 'packages', folder))));
