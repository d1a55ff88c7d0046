import { createHash } from 'node:crypto';
import { readdirSync, realpathSync, statSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { allowedScripts, installedFolder, type PackageManifest, readManifest } from '@millrace/diagnostics';
import { dependencyNames, installedFrom, neededNames } from '../bundle/whole/closure.ts';
import type { InstalledBy } from './installed-by.ts';
import type { LayerPlan, LayerRoot } from './layer-plan.ts';
import { LayerRefused } from './layer-refused.ts';
import { nameAt } from './lockfile.ts';
import { allowsPlatform, isNamedFor, whyOnlyHere } from './platform-fit.ts';

/**
 * Plans a layer of packages as they are installed, for projects whose package manager is not npm: each arranges packages in its own way, and a
 * package must resolve the same ones as there. Needs no registry. Throws a LayerRefused if the installed packages do not fit the platform.
 */
export function planCopies(
  roots: readonly LayerRoot[],
  projectDir: string,
  by: InstalledBy,
  platform: string,
): LayerPlan {
  const project = readManifest(projectDir);
  const chosen = dependencyNames(project);
  const placed = new Map<string, string>();
  const waiting: string[] = [];
  const add = (location: string, folder: string): void => {
    const other = placed.get(location);
    if (other === folder) return;
    if (other !== undefined) throw new LayerRefused(twoVersions(location, other, folder));
    placed.set(location, folder);
    waiting.push(location);
  };
  for (const { name, folder } of roots) {
    if (!allowsPlatform(readManifest(folder), platform))
      throw new LayerRefused(`${name} has no version for ${platform}: see build.platforms.`);
    // Packages next to the target of a link are found only from there.
    add(`node_modules/${name}`, realpathSync(folder));
  }
  for (let at = waiting.shift(); at !== undefined; at = waiting.shift()) {
    const folder = placed.get(at) ?? '';
    const manifest = readManifest(folder);
    const { name = nameAt(at), version } = manifest;
    // A linked folder is not in the lockfile.
    if (installedFolder(folder) !== undefined) by.refuseUnlocked(name, version, folder);
    const why = whyOnlyHere(folder, manifest, allowedScripts(project, name, version) === false, platform);
    if (why !== undefined)
      throw new LayerRefused(
        `${name} is installed for this machine, not for ${platform} (${why}): deploy from ${platform}${why.includes('install script') ? `, or set "${name}": false in allowScripts of package.json if its script is not needed` : ''}.`,
      );
    const builds = new Map<string, boolean>();
    for (const needed of neededNames(manifest, chosen)) {
      const target = installedFrom(folder, needed);
      const isMissing = target === undefined || !isFor(readManifest(target), platform);
      if (isOptional(manifest, needed) && isNamedFor(needed, platform)) builds.set(needed, !isMissing);
      if (target === undefined && isRequired(manifest, needed)) by.refuseMissing(needed, name);
      if (isMissing) continue;
      const found = lookUp(placed, at, needed);
      if (found === target) continue;
      refuseCircle(placed, at, needed, target);
      add(`${found === undefined ? '' : `${at}/`}node_modules/${needed}`, target);
    }
    if (builds.size > 0 && ![...builds.values()].includes(true))
      throw new LayerRefused(
        `${[...builds.keys()].join(', ')} of ${name} is not installed, which ${platform} needs: ${by.howToInstallFor(platform)}.`,
      );
  }
  const copies = new Map([...placed].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return {
    copies,
    platform,
    key: keyOf(copies, platform),
    dependencies: {},
    packages: Object.fromEntries(
      [...copies].map(([location, folder]) => {
        const { version } = readManifest(folder);
        return [location, version === undefined ? {} : { version }];
      }),
    ),
  };
}

const isFor = (manifest: PackageManifest, platform: string): boolean =>
  manifest.mocked !== true && allowsPlatform(manifest, platform);

const isOptional = ({ optionalDependencies = {} }: PackageManifest, name: string): boolean =>
  name in optionalDependencies;

const isRequired = (manifest: PackageManifest, name: string): boolean =>
  name in (manifest.dependencies ?? {}) && !isOptional(manifest, name);

function twoVersions(location: string, ...folders: readonly string[]): string {
  const versions = folders.map((folder) => readManifest(folder).version).join(' and ');
  return `${nameAt(location)} is required in two versions (${versions}): use one version of it in the whole project.`;
}

/** Packages that need each other in two versions would be nested without end. */
function refuseCircle(placed: ReadonlyMap<string, string>, from: string, name: string, target: string): void {
  for (let at = from; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/'))))
    if (placed.get(at) === target)
      throw new LayerRefused(
        `${name} ${readManifest(target).version ?? ''} needs itself through another version of it (${from}): use one version of it in the whole project.`,
      );
}

/** Copies packages into a temporary folder, calls `use` with it and removes it. */
export async function withCopies<T>(
  copies: ReadonlyMap<string, string>,
  use: (folder: string) => Promise<T>,
): Promise<T> {
  const to = await mkdtemp(join(tmpdir(), 'millrace-copies-'));
  try {
    for (const [location, folder] of copies)
      for (const file of filesOf(folder)) {
        const path = join(to, location, file);
        await mkdir(dirname(path), { recursive: true });
        await copyFile(join(folder, file), path);
      }
    return await use(to);
  } finally {
    await rm(to, { recursive: true, force: true });
  }
}

/** The folder of the package that a package in the layer resolves by a name. */
function lookUp(placed: ReadonlyMap<string, string>, from: string, name: string): string | undefined {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/')))) {
    const folder = placed.get(`${at === '' ? '' : `${at}/`}node_modules/${name}`);
    if (folder !== undefined || at === '') return folder;
  }
}

/** The same as long as no file changes. */
function keyOf(copies: ReadonlyMap<string, string>, platform: string): string {
  const hash = createHash('sha256').update(platform);
  for (const [location, folder] of copies)
    for (const file of filesOf(folder)) {
      const { size, mtimeMs } = statSync(join(folder, file));
      hash.update(`${location}/${file}\0${size}\0${mtimeMs}\0`);
    }
  return hash.digest('hex').slice(0, 32);
}

/** Regular files of a package, excluding nested packages. */
function filesOf(folder: string, below = '.'): string[] {
  return readdirSync(join(folder, below), { withFileTypes: true }).flatMap((entry) => {
    const path = join(below, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : filesOf(folder, path);
    return entry.isFile() ? [path] : [];
  });
}
