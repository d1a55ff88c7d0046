import { createHash } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { allowedScripts, readManifest } from '@millrace/diagnostics';
import { whyNotBundled } from '../bundle/unbundlable.ts';
import { dependencyNames, installedFrom, neededNames } from '../bundle/whole/closure.ts';
import type { LayerPlan, LayerRoot } from './layer-plan.ts';

/** A package that differs between platforms. */
export interface Uncopyable {
  readonly name: string;
  readonly why: string;
}

/**
 * Plans a layer of packages as they are installed, for projects without an npm lockfile: another tool may arrange them differently, and each
 * package must resolve the same ones as there.
 */
export function planCopies(
  roots: readonly LayerRoot[],
  projectDir: string,
): Omit<LayerPlan, 'platform'> | Uncopyable {
  const project = readManifest(projectDir);
  const chosen = dependencyNames(project);
  const placed = new Map<string, string>();
  const waiting: string[] = [];
  const add = (location: string, folder: string): void => {
    placed.set(location, folder);
    waiting.push(location);
  };
  for (const { name, folder } of roots) add(`node_modules/${name}`, folder);
  for (let at = waiting.shift(); at !== undefined; at = waiting.shift()) {
    const folder = placed.get(at) ?? '';
    const manifest = readManifest(folder);
    const { name = '', version } = manifest;
    const why = whyNotBundled(folder, allowedScripts(project, name, version) === false);
    if (why !== undefined) return { name, why };
    for (const needed of neededNames(manifest, chosen)) {
      const target = installedFrom(folder, needed);
      const found = lookUp(placed, at, needed);
      if (target === undefined || found === target) continue;
      add(`${found === undefined ? '' : `${at}/`}node_modules/${needed}`, target);
    }
  }
  const copies = new Map([...placed].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return {
    copies,
    key: keyOf(copies),
    dependencies: {},
    packages: Object.fromEntries(
      [...copies].map(([location, folder]) => {
        const { version } = readManifest(folder);
        return [location, version === undefined ? {} : { version }];
      }),
    ),
  };
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
function keyOf(copies: ReadonlyMap<string, string>): string {
  const hash = createHash('sha256');
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
