/**
 * Copies the type declarations that `exports` reaches from `types`, where the compiler writes all of them, to `dist`. Declarations of
 * private packages, which are in no registry, are copied into a folder with the name of the package.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { glob } from 'tinyglobby';
import { exportedModules } from './exported-modules.ts';
import { publishedPackages, type PublishedPackage } from './packages.ts';
import { root } from './up-to-date.ts';

/** `import … from './x.js'`, `export … from './x.js'` and `import('./x.js')`, outside of comments. */
const comment = /\/\*[\s\S]*?\*\//g;
const reference = /(?:\bfrom|\bimport\()\s*['"](\.[^'"\n]+)['"]/g;
const named = /\b(import|export)( type)? \{([^}]*)\} from ['"]([^'"\n]+)['"]/g;
const inline = /\bimport\(['"]([^'"\n]+)['"]\)\.(\w+)/g;

/** The name of an item of the list in `export { a, type b, c as d } from …`. */
const nameOf = (item: string): string => item.replace(/^\s*(?:type )?|\s.*$/g, '').trim();

const typesOf = (folder: string): string => join(root, 'packages', folder, 'types');

async function copyDeclarations({ folder, includes = [] }: PublishedPackage): Promise<void> {
  const packageFolder = join(root, 'packages', folder);
  const dist = join(packageFolder, 'dist');
  /** Where a declaration is written, by its place below `dist`: a private package has a folder there. */
  const sourceOf = (file: string): string => {
    const included = includes.find((name) => file.startsWith(`${name}/`));
    return included === undefined
      ? join(typesOf(folder), file)
      : join(typesOf(included), file.slice(included.length + 1));
  };
  const exportsOf = await Promise.all(includes.map(async (name) => [name, await exportedBy(name)] as const));
  const exporters = new Map(exportsOf);
  /** The module below `dist` that declares a name of a private package. Undefined for other packages. */
  const declaring = (specifier: string, name: string): string | undefined => {
    const exporter = exporters.get(specifier.replace(/^@millrace\//, ''));
    if (!exporter) return undefined;
    const file = exporter.get(name);
    if (file === undefined) throw new Error(`${specifier} does not export ${name} from a file of its own.`);
    return file;
  };
  const withoutPrivate = (text: string, file: string): string => {
    const pathTo = (target: string): string => {
      const path = relative(dirname(file), target).replaceAll('\\', '/');
      return path.startsWith('.') ? path : `./${path}`;
    };
    return text
      .replaceAll(named, (whole, kind: string, type: string | undefined, list: string, specifier: string) => {
        const items = list.split(',').filter((item) => item.trim() !== '');
        const byFile = Map.groupBy(items, (item) => declaring(specifier, nameOf(item)));
        if (byFile.has(undefined)) return whole;
        return [...byFile]
          .map(
            ([target = '', names]) =>
              `${kind}${type ?? ''} { ${names.map((name) => name.trim()).join(', ')} } from '${pathTo(target)}'`,
          )
          .join(';\n');
      })
      .replaceAll(inline, (whole, specifier: string, name: string) => {
        const target = declaring(specifier, name);
        return target === undefined ? whole : `import('${pathTo(target)}').${name}`;
      });
  };

  const reached = new Map<string, string>();
  const open = (await exportedModules(packageFolder)).map((module) => `${module}.d.ts`);
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (reached.has(file)) continue;
    const text = withoutPrivate(await readFile(sourceOf(file), 'utf8'), file);
    reached.set(file, text);
    for (const [, path = ''] of text.replaceAll(comment, '').matchAll(reference)) {
      open.push(join(dirname(file), path.replace(/\.[jt]s$/, '.d.ts')));
    }
  }
  const old = await glob('**/*.d.ts', { cwd: dist });
  await Promise.all(old.filter((file) => !reached.has(file)).map((file) => rm(join(dist, file))));
  for (const [file, text] of reached) {
    await mkdir(dirname(join(dist, file)), { recursive: true });
    await writeFile(join(dist, file), text);
  }
}

/** The names that the entry of a private package exports, each with the module that declares it, below the `dist` that includes the package. */
async function exportedBy(folder: string): Promise<Map<string, string>> {
  const text = await readFile(join(typesOf(folder), 'index.d.ts'), 'utf8');
  return new Map(
    [...text.matchAll(named)].flatMap(([, , , list = '', path = '']) =>
      list.split(',').map((item) => [nameOf(item), join(folder, path)] as const),
    ),
  );
}

await Promise.all(publishedPackages.map(copyDeclarations));
