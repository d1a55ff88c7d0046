import type { Lockfile } from './lockfile.ts';

/** The packages in a lockfile of pnpm, yarn or bun. */
export interface LockedVersions {
  has(name: string, version: string | undefined): boolean;
  hasAny(name: string): boolean;
}

/** The version of a package whose lockfile entry has none, such as a folder. */
const anyVersion = '*';

/**
 * Reads the names and versions in the text of a lockfile; undefined for an unknown format. Lockfiles are written by programs, one entry a
 * line, so no parser is needed that knows all of YAML.
 */
export function lockedVersions(name: Lockfile['name'], text: string): LockedVersions | undefined {
  const entries = entriesOf(name, text);
  if (entries === undefined) return undefined;
  const versions = new Map<string, Set<string>>();
  for (const [packageName, version] of entries) {
    const known = versions.get(packageName);
    if (known) known.add(version);
    else versions.set(packageName, new Set([version]));
  }
  return {
    has: (packageName, version = anyVersion) => {
      const known = versions.get(packageName);
      return known !== undefined && (known.has(version) || known.has(anyVersion));
    },
    hasAny: (packageName) => versions.has(packageName),
  };
}

type Entry = readonly [name: string, version: string];

function entriesOf(name: Lockfile['name'], text: string): Entry[] | undefined {
  const lines = text.split(/\r?\n/);
  if (name === 'pnpm-lock.yaml') return /^lockfileVersion: '?[69]\./m.test(text) ? ofPnpm(lines) : undefined;
  if (name === 'bun.lock') return ofBun(lines);
  if (name !== 'yarn.lock') return undefined;
  return /^__metadata:/m.test(text) ? ofBerry(lines) : ofClassicYarn(lines);
}

/** `'@scope/name@1.0.0':`, since version 9 of the format, and `/name@1.0.0(peer@2.0.0):` before. Folders and archives have own lines for their names and versions. */
function ofPnpm(lines: readonly string[]): Entry[] {
  const found: Entry[] = [];
  const start = lines.indexOf('packages:');
  let name = '';
  for (const line of start === -1 ? [] : lines.slice(start + 1)) {
    if (/^\S/.test(line)) break;
    const [, key] = /^ {2}(\S.*):(?: \{\})?$/.exec(line) ?? [];
    const [, field, value = ''] = /^ {4}(name|version): '?([^']+)'?$/.exec(line) ?? [];
    if (key !== undefined) {
      const [, keyName = '', version = anyVersion] = /^'?\/?(@?[^@'(]+)(?:@(\d[^('\s]*))?/.exec(key) ?? [];
      name = keyName;
      found.push([name, version]);
    } else if (field !== undefined) {
      // It completes the entry of the key, which has no version.
      if (field === 'name') name = value;
      found.pop();
      found.push([name, field === 'version' ? value : anyVersion]);
    }
  }
  return found;
}

/** `"name": ["name@1.0.0", …` */
function ofBun(lines: readonly string[]): Entry[] {
  return lines.flatMap((line): Entry[] => {
    const [, name, version = anyVersion] =
      /^ {4}"[^"]+": \["(@?[^@"]+)@(?:(\d[^"]*)|[^"]*)"/.exec(line) ?? [];
    return name === undefined ? [] : [[name, version]];
  });
}

/** `resolution: "name@npm:1.0.0"` below `version: 1.0.0`. */
function ofBerry(lines: readonly string[]): Entry[] {
  let version = '';
  return lines.flatMap((line): Entry[] => {
    version = /^ {2}version: "?([^"]+)"?$/.exec(line)?.[1] ?? version;
    const [, name] = /^ {2}resolution: "(@?[^@"]+)@/.exec(line) ?? [];
    return name === undefined ? [] : [[name, version]];
  });
}

/** `version "1.0.0"` below `name@^1.0.0, name@^1.0.1:`; the package of `alias@npm:name@^1.0.0` is `name`. */
function ofClassicYarn(lines: readonly string[]): Entry[] {
  let name = '';
  return lines.flatMap((line): Entry[] => {
    const [, requested, alias] = /^"?(@?[^@",\s]+)@(?:npm:(@?[^@",\s]+)@)?/.exec(line) ?? [];
    name = alias ?? requested ?? name;
    const [, version] = /^ {2}version "([^"]+)"$/.exec(line) ?? [];
    return version === undefined ? [] : [[name, version]];
  });
}
