/** The entries of private packages, which are in no registry: published code imports the files directly. */
import { readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { root } from './up-to-date.ts';

/** `import { … } from '…'` and `export { … } from '…'`. */
const named = /\b(import|export)( type)? \{([^}]*)\} from ['"]([^'"\n]+)['"]/g;
/** `import('…').Name`, in declarations. */
const inline = /\bimport\(['"]([^'"\n]+)['"]\)\.(\w+)/g;

/** The name of an item in the list of `export { a, type b, c as d } from …`. */
const nameOf = (item: string): string => item.replace(/^\s*(?:type )?|\s.*$/g, '').trim();

const itemsOf = (list: string): string[] =>
  list.split(',').flatMap((item) => (item.trim() === '' ? [] : [item.trim()]));

/** Finds the file that a private package exports a name from, relative to `packages`, without `src`: `postgres/cluster/start.ts`. */
export type FindFile = (specifier: string, name: string) => string | undefined;

/** Covers the private packages in these folders. */
export async function filesOfEntries(folders: readonly string[]): Promise<FindFile> {
  const entries = new Map<string, Map<string, string>>(
    await Promise.all(
      folders.map(async (folder) => [`@millrace/${folder}`, await exportsOf(folder)] as const),
    ),
  );
  return (specifier, name) => {
    const exported = entries.get(specifier);
    if (!exported) return undefined;
    const file = exported.get(name);
    if (file === undefined) throw new Error(`The entry of ${specifier} has no ${name}.`);
    return file;
  };
}

async function exportsOf(folder: string): Promise<Map<string, string>> {
  const text = await readFile(join(root, 'packages', folder, 'src/index.ts'), 'utf8');
  return new Map(
    [...text.matchAll(named)].flatMap(([, , , list = '', path = '']) =>
      itemsOf(list).map((item) => [nameOf(item), posix.join(folder, path)] as const),
    ),
  );
}

/** A text that imports the files directly. Line numbers do not change. */
export function withoutEntries(text: string, findFile: FindFile, pathTo: (file: string) => string): string {
  return text
    .replaceAll(named, (whole, kind: string, type: string | undefined, list: string, specifier: string) => {
      const byFile = new Map<string, string[]>();
      for (const item of itemsOf(list)) {
        const file = findFile(specifier, nameOf(item));
        if (file === undefined) return whole;
        byFile.set(file, [...(byFile.get(file) ?? []), item]);
      }
      const statements = [...byFile].map(([file, items]) => {
        const isType = type !== undefined || items.every((item) => item.startsWith('type '));
        const names = isType ? items.map((item) => item.replace(/^type /, '')) : items;
        return `${kind}${isType ? ' type' : ''} { ${names.join(', ')} } from '${pathTo(file)}'`;
      });
      return statements.join('; ') + '\n'.repeat(whole.split('\n').length - 1);
    })
    .replaceAll(inline, (whole, specifier: string, name: string) => {
      const file = findFile(specifier, name);
      return file === undefined ? whole : `import('${pathTo(file)}').${name}`;
    });
}
