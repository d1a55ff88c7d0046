import { createHash } from 'node:crypto';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { readManifest } from '@millrace/diagnostics';
import { neededNames } from '../bundle/whole/closure.ts';
import { LayerRefused } from './layer-refused.ts';
import { findLockfile, nameAt, type LockedPackage, type Lockfile } from './lockfile.ts';
import { allowsPlatform } from './platform-fit.ts';

/** The packages of a layer: a package.json and a package-lock.json with nothing else in them. */
export interface LayerPlan {
  readonly platform: string;
  /** Exact versions of the top-level packages. */
  readonly dependencies: Readonly<Record<string, string>>;
  /** By location, such as `node_modules/sharp`. */
  readonly packages: Readonly<Record<string, LockedPackage>>;
  /** Equal for equal packages. */
  readonly key: string;
  /** Folders on this machine by location, for packages that are copied instead of installed. */
  readonly copies?: ReadonlyMap<string, string>;
}

export interface LayerRoot {
  readonly name: string;
  /** Where it is installed in the project, absolute. */
  readonly folder: string;
}

/** Finds the locked versions of packages and all their dependencies, for one platform. `chosen`: the dependencies of the project. */
export function planLayer(
  roots: readonly LayerRoot[],
  lock: Lockfile & { packages: NonNullable<Lockfile['packages']> },
  platform: string,
  chosen: ReadonlySet<string>,
): LayerPlan {
  const { packages: locked } = lock;
  /** New locations, each with its location in the project's lockfile. */
  const taken = new Map<string, string>();
  const packages: Record<string, LockedPackage> = {};
  const dependencies: Record<string, string> = {};

  const add = (from: string, isOptional: boolean): string | undefined => {
    const entry = locked[from];
    if (entry === undefined) return undefined;
    const fits = allowsPlatform(entry, platform);
    if (!fits && isOptional) return undefined;
    const name = nameAt(from);
    if (!fits) throw new LayerRefused(`${name} has no version for ${platform}: see build.platforms.`);
    if (entry.link)
      throw new LayerRefused(
        `${name} is a workspace package and cannot be in a layer: remove the packages that depend on it from build.external.`,
      );
    const to = newLocation(from);
    const other = taken.get(to);
    if (other === from) return versionOf(entry, lock.folder);
    if (other !== undefined)
      throw new LayerRefused(
        `${name} is required in two versions (${locked[other]?.version} and ${entry.version}): use one version of it in the whole project.`,
      );
    refuseOther(name, entry, from, lock);
    taken.set(to, from);
    const own = {
      dependencies: {} as Record<string, string>,
      optionalDependencies: {} as Record<string, string>,
    };
    const optional = Object.keys(entry.optionalDependencies ?? {});
    const others = [...neededNames(entry, chosen)].filter((dependency) => !optional.includes(dependency));
    for (const [kind, named] of [
      ['dependencies', others],
      ['optionalDependencies', optional],
    ] as const) {
      for (const dependency of named) {
        const location = locate(locked, from, dependency);
        const version =
          location === undefined ? undefined : add(location, isOptional || kind === 'optionalDependencies');
        if (version !== undefined) own[kind][dependency] = version;
      }
    }
    const { version, integrity, hasInstallScript } = entry;
    const resolved = absolute(entry.resolved, lock.folder);
    packages[to] = {
      ...(entry.name !== undefined && { name: entry.name }),
      ...(version !== undefined && { version }),
      ...(resolved !== undefined && { resolved }),
      ...(integrity !== undefined && { integrity }),
      ...(hasInstallScript && { hasInstallScript }),
      ...own,
    };
    if (!to.includes('/node_modules/')) dependencies[name] = versionOf(entry, lock.folder);
    return versionOf(entry, lock.folder);
  };

  for (const { name, folder } of roots) {
    const location = relative(lock.folder, folder).split(sep).join('/');
    if (isAbsolute(location) || !(location in locked))
      throw new LayerRefused(missingFrom(lock, name, folder));
    if (/\/node_modules\/.*\/node_modules\//.test(`/${location}`)) {
      const parent = nameAt(location.slice(0, location.lastIndexOf('/node_modules/')));
      throw new LayerRefused(
        `${name} ${locked[location]?.version ?? ''} is installed inside ${parent}: add "${parent}" to build.external, so that the layer contains both.`,
      );
    }
    add(location, false);
  }
  const sorted = Object.fromEntries(Object.entries(packages).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  const key = createHash('sha256')
    .update(JSON.stringify([2, platform, sorted]))
    .digest('hex')
    .slice(0, 32);
  return { platform, dependencies, packages: sorted, key };
}

/** The bundled code comes from `node_modules`, so the layer must have the same version. */
function refuseOther(name: string, { version }: LockedPackage, location: string, lock: Lockfile): void {
  const installed = readManifest(join(lock.folder, location)).version;
  if (installed === undefined || version === undefined || installed === version) return;
  throw new LayerRefused(
    `${name} is ${installed} in node_modules and ${version} in ${join(lock.folder, lock.name)}: run \`npm install\`.`,
  );
}

function missingFrom(lock: Lockfile, name: string, folder: string): string {
  const file = join(lock.folder, lock.name);
  const message = `${name} is installed in ${folder}, but missing from ${file}`;
  const above = isAbsolute(relative(lock.folder, folder)) || relative(lock.folder, folder).startsWith('..');
  const other = above ? findLockfile(dirname(lock.folder)) : undefined;
  return other === undefined
    ? `${message}: run \`npm install\`.`
    : `${message}. If it was installed from ${join(other.folder, other.name)}, delete ${file}, otherwise run \`npm install\`.`;
}

/** Without the folder of a workspace: `packages/app/node_modules/a` becomes `node_modules/a`. */
const newLocation = (location: string): string => location.slice(location.indexOf('node_modules/'));

/** The package that Node.js resolves from a package: its own folder first, then those above it. */
function locate(locked: Lockfile['packages'] & object, from: string, name: string): string | undefined {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/')))) {
    const location = `${at === '' ? '' : `${at}/`}node_modules/${name}`;
    if (location in locked) return location;
    if (at === '') return undefined;
  }
}

/** The version in the format of a dependency: a version, or the source of a package that is in no registry. */
function versionOf({ name, version = '*', resolved }: LockedPackage, folder: string): string {
  if (resolved !== undefined && !/^https?:/.test(resolved)) return absolute(resolved, folder) ?? version;
  return name === undefined ? version : `npm:${name}@${version}`;
}

/** Paths of a lockfile are relative to it. */
const absolute = (resolved: string | undefined, folder: string): string | undefined =>
  resolved?.startsWith('file:') ? `file:${resolve(folder, resolved.slice('file:'.length))}` : resolved;
