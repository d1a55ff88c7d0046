import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';

/** The fields of a package.json that a build reads. */
export interface PackageManifest {
  readonly name?: string;
  readonly version?: string;
  readonly type?: string;
  readonly exports?: unknown;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
  readonly binary?: unknown;
  readonly gypfile?: boolean;
  readonly engines?: { readonly node?: string };
  readonly os?: readonly string[] | string;
  readonly cpu?: readonly string[] | string;
  readonly libc?: readonly string[] | string;
  readonly packageManager?: string;
  /** Set by Yarn in an empty folder for a package of another platform. */
  readonly mocked?: boolean;
  readonly allowScripts?: Readonly<Record<string, boolean>>;
}

/** Packages that task files share with the process that executes them, such as the SDK, of which a process has only one copy. */
export const sharedPackages = /^@(?:millrace|trigger\.dev)\//;

/** The package name in a specifier such as `@scope/name/file.js`; undefined for paths and `#imports`. */
export const packageOf = (specifier: string): string | undefined =>
  /^(?:@[^/@\s]+\/)?[^/@.#\s:][^/@\s:]*(?=\/|$)/.exec(specifier)?.[0];

/** The installed package that contains a file, below the last `node_modules` of its path; undefined for files of the project. */
export function installedFolder(file: string): string | undefined {
  const mark = `${sep}node_modules${sep}`;
  const at = file.lastIndexOf(mark);
  if (at === -1) return undefined;
  const parts = file.slice(at + mark.length).split(sep);
  // Yarn's pnpm linker: `node_modules/.store/name-npm-1.0.0-0123/package`.
  const depth = parts[0] === '.store' ? 3 : parts[0]?.startsWith('@') ? 2 : 1;
  return file.slice(0, at + mark.length) + parts.slice(0, depth).join(sep);
}

/** The nearest folder with a package.json at or above this one. */
export function manifestFolder(from: string): string | undefined {
  for (let at = from; ; at = dirname(at)) {
    if (existsSync(join(at, 'package.json'))) return at;
    if (at === dirname(at)) return undefined;
  }
}

export function readManifest(folder: string): PackageManifest {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as PackageManifest;
  } catch {
    return {};
  }
}

/** A project's setting for a package's install scripts: `allowScripts` of its package.json, as npm reads it. */
export function allowedScripts(
  { allowScripts = {} }: PackageManifest,
  name: string,
  version: string | undefined,
): boolean | undefined {
  return allowScripts[`${name}@${version}`] ?? allowScripts[name];
}
