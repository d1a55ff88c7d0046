import type { Source } from './literals.ts';

/** An export of a package that a file uses. */
export interface ImportedName {
  readonly specifier: string;
  /** The name of the export; undefined for the package itself. */
  readonly name: string | undefined;
  /** Its name in the file, or the path to it. Undefined if the file only exports it again. */
  readonly local: string | undefined;
  readonly at: number;
}

const specifier = String.raw`['"](@trigger\.dev\/[^'"]+)['"]`;
const statement = new RegExp(
  String.raw`\b(import|export)\s+(type\s+)?([^'"();]*?)\s*\bfrom\s*${specifier}`,
  'g',
);
const expression = new RegExp(
  String.raw`(?:\{([^{}]*)\}|([\w$]+))\s*=\s*(?:await\s+import|require)\s*\(\s*${specifier}`,
  'g',
);

/** The uses of packages of the published SDK in a file, without types. `commented` is the file without comments. */
export function importedNames({ code }: Source, commented: string): ImportedName[] {
  const found: ImportedName[] = [];
  const add = (from: string, at: number, text: string, isExport: boolean): void => {
    found.push({ specifier: from, name: undefined, local: undefined, at });
    const namespace = /^(?:\*\s*as\s+)?([\w$]+)$/.exec(text.replace(/\{[^}]*\}|,/g, '').trim())?.[1];
    if (namespace !== undefined) found.push(...throughNamespace(code, from, namespace));
    const braces = /\{([^}]*)\}/.exec(text)?.[1] ?? '';
    for (const part of braces.split(',').map((each) => each.trim())) {
      if (part === '' || part.startsWith('type ')) continue;
      const [name = '', local = name] = part.split(/\s+as\s+|\s*:\s*/);
      const position = commented
        .slice(at)
        .search(new RegExp(String.raw`(?<![\w$])${name.replaceAll('$', String.raw`\$`)}(?![\w$])`));
      found.push({
        specifier: from,
        name,
        local: isExport ? undefined : local,
        at: at + Math.max(0, position),
      });
    }
  };
  for (const match of commented.matchAll(statement)) {
    const [, keyword, type, clause = '', from = ''] = match;
    if (type === undefined) add(from, match.index, clause, keyword === 'export');
  }
  for (const match of commented.matchAll(expression)) {
    const [, braces, whole, from = ''] = match;
    add(from, match.index, braces === undefined ? `* as ${whole}` : `{${braces}}`, false);
  }
  return found;
}

/** The exports that a file reads from the namespace of a package. */
function throughNamespace(code: string, from: string, namespace: string): ImportedName[] {
  const pattern = new RegExp(
    String.raw`(?<![\w$.])${namespace.replaceAll('$', String.raw`\$`)}\s*\.\s*([\w$]+)`,
    'g',
  );
  const first = new Map<string, number>();
  for (const match of code.matchAll(pattern)) {
    const name = match[1] ?? '';
    if (!first.has(name)) first.set(name, match.index);
  }
  return [...first].map(([name, at]) => ({ specifier: from, name, local: `${namespace}.${name}`, at }));
}
