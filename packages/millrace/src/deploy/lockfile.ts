import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

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

export interface Lockfile {
  /** Its folder. */
  readonly folder: string;
  readonly name: string;
  /** By location, such as `node_modules/sharp`; undefined for a lockfile of a tool other than npm. */
  readonly packages: Readonly<Record<string, LockedPackage>> | undefined;
  /** It is not valid JSON, for example because of merge conflict markers. */
  readonly isBroken: boolean;
}

const names = [
  'npm-shrinkwrap.json',
  'package-lock.json',
  'pnpm-lock.yaml',
  'yarn.lock',
  'bun.lock',
  'bun.lockb',
];

/** The nearest lockfile at or above a project, which may be a workspace. */
export function findLockfile(projectDir: string): Lockfile | undefined {
  for (let folder = projectDir; ; folder = dirname(folder)) {
    const name = names.find((candidate) => existsSync(join(folder, candidate)));
    if (name !== undefined) return { folder, name, ...read(join(folder, name)) };
    if (folder === dirname(folder)) return undefined;
  }
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
