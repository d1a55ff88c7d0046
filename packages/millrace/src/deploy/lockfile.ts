import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readManifest } from '@millrace/diagnostics';
import { LayerRefused } from './layer-refused.ts';

/** One installed package in a package-lock.json of version 2 or 3. */
export interface LockedPackage {
  readonly name?: string;
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
  readonly hasInstallScript?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

export type PackageManager = 'npm' | 'pnpm' | 'yarn' | 'bun';

export interface Lockfile {
  /** Its folder. */
  readonly folder: string;
  readonly name: string;
  readonly manager: PackageManager;
  /** By location, such as `node_modules/sharp`; undefined for a lockfile of a tool other than npm. */
  readonly packages: Readonly<Record<string, LockedPackage>> | undefined;
  /** It is not valid JSON, for example because of merge conflict markers. */
  readonly isBroken: boolean;
}

/** The name of the package at a location, such as `node_modules/a/node_modules/@scope/b`. */
export const nameAt = (location: string): string =>
  location.slice(location.lastIndexOf('node_modules/') + 'node_modules/'.length);

/** The first of two lockfiles of the same package manager is used. */
const managers: Readonly<Record<string, PackageManager>> = {
  'npm-shrinkwrap.json': 'npm',
  'package-lock.json': 'npm',
  'pnpm-lock.yaml': 'pnpm',
  'yarn.lock': 'yarn',
  'bun.lock': 'bun',
  'bun.lockb': 'bun',
};

/** The nearest lockfile at or above a project, which may be a workspace. Throws a LayerRefused if that folder has several. */
export function findLockfile(projectDir: string): Lockfile | undefined {
  for (let folder = projectDir; ; folder = dirname(folder)) {
    const names = Object.keys(managers).filter((candidate) => existsSync(join(folder, candidate)));
    const name = theOnly(names, folder);
    if (name !== undefined)
      return { folder, name, manager: managers[name] ?? 'npm', ...read(join(folder, name)) };
    if (folder === dirname(folder)) return undefined;
  }
}

/** Throws a LayerRefused if lockfiles belong to several package managers, and package.json does not name one of them. */
function theOnly(names: readonly string[], folder: string): string | undefined {
  const [first] = names;
  if (new Set(names.map((name) => managers[name])).size <= 1) return first;
  const declared = readManifest(folder).packageManager?.split('@')[0];
  const named = names.find((name) => managers[name] === declared);
  if (named !== undefined) return named;
  throw new LayerRefused(
    `${folder} has ${names.join(' and ')}: delete the lockfiles that are not used, or set "packageManager" in its package.json.`,
  );
}

function read(file: string): Pick<Lockfile, 'packages' | 'isBroken'> {
  if (!file.endsWith('.json')) return { packages: undefined, isBroken: false };
  const text = readFileSync(file, 'utf8');
  try {
    const { packages } = JSON.parse(text) as { packages?: Lockfile['packages'] };
    return { packages, isBroken: false };
  } catch {
    return { packages: undefined, isBroken: true };
  }
}
