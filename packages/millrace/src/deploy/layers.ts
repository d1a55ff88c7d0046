import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { allowedScripts, readManifest } from '@millrace/diagnostics';
import { makeFolder, renameOver } from '@millrace/platform';
import { dependencyNames } from '../bundle/whole/closure.ts';
import type { ExternalPackage } from '../bundle/external-packages.ts';
import type { Project } from '../project/load.ts';
import { planCopies, withCopies } from './copy-installed.ts';
import { withInstalled } from './install.ts';
import { installedBy, installedWithoutLockfile } from './installed-by.ts';
import { planLayer, type LayerPlan, type LayerRoot } from './layer-plan.ts';
import { LayerRefused } from './layer-refused.ts';
import { findLockfile, nameAt, type Lockfile } from './lockfile.ts';
import { packLayer, type Digests } from './pack-layer.ts';

/** Packages for one platform, in a file on this machine. */
export interface Layer extends Digests {
  readonly platform: string;
  /** The compressed archive. */
  readonly file: string;
  readonly packages: readonly string[];
  /** Whether it was built by this call. */
  readonly isNew: boolean;
}

export interface Layers {
  readonly layers: readonly Layer[];
  /** Packages with an install script without a setting in the project. It was not executed. */
  readonly withoutScript: readonly string[];
}

/** Number of layers that are kept on this machine. */
const maxLayers = 10;

interface PlannedLayers {
  readonly plans: readonly { readonly plan: LayerPlan; readonly scripts: readonly string[] }[];
  readonly withoutScript: readonly string[];
  /** Folders whose `.npmrc` applies. */
  readonly npmrcFolders: readonly string[];
}

/** Finds the packages of the layer for each platform. Throws a LayerRefused. */
export function planLayers(project: Project, externals: readonly ExternalPackage[]): PlannedLayers {
  const roots = layerRoots(project, externals);
  if (roots.length === 0) return { plans: [], withoutScript: [], npmrcFolders: [] };
  const lock = findLockfile(project.dir);
  if (lock === undefined || lock.manager !== 'npm') return copiedLayers(project, roots, lock);
  const [first] = roots;
  const because = `${first?.name} cannot be bundled (${first?.why}) and is installed by npm from a package-lock.json`;
  const { packages, folder } = lock;
  if (lock.isBroken)
    throw new LayerRefused(
      `${because}. ${lock.name} is not JSON: \`npm install\` repairs it, including merge conflicts.`,
    );
  if (packages === undefined)
    throw new LayerRefused(
      `${because}. ${lock.name} has an old format: run \`npm install --package-lock-only\`.`,
    );
  const manifest = readManifest(project.dir);
  const above = folder === project.dir ? {} : readManifest(folder);
  const withoutScript = new Set<string>();
  const plans = project.build.platforms.map((platform) => {
    const plan = planLayer(roots, { ...lock, packages }, platform, dependencyNames(manifest));
    const scripts: string[] = [];
    for (const [location, { version, hasInstallScript }] of Object.entries(plan.packages)) {
      if (!hasInstallScript) continue;
      const name = nameAt(location);
      const allowed = allowedScripts(manifest, name, version) ?? allowedScripts(above, name, version);
      if (allowed === true) scripts.push(name);
      else if (allowed === undefined) withoutScript.add(name);
    }
    const [os, cpu] = platform.split('-');
    if (scripts.length > 0 && (os !== process.platform || cpu !== process.arch))
      throw new LayerRefused(
        `${scripts.join(', ')}: allowScripts of package.json allows an install script, which runs only on its target platform. Deploy from ${platform}, or set it to false.`,
      );
    return { plan, scripts };
  });
  return { plans, withoutScript: [...withoutScript], npmrcFolders: [folder, project.dir] };
}

/** Packages that another package manager installed are copied from their folders, as well as those without a lockfile. */
function copiedLayers(
  { dir, build }: Project,
  roots: readonly LayerRoot[],
  lock: Lockfile | undefined,
): PlannedLayers {
  const by = lock === undefined ? installedWithoutLockfile(dir) : installedBy(lock);
  const plans = build.platforms.map((platform) => ({
    plan: planCopies(roots, dir, by, platform),
    scripts: [],
  }));
  return { plans, withoutScript: [], npmrcFolders: [] };
}

/** Installs the packages that are not bundled, for each platform, unless that was done before. Throws a LayerRefused. */
export async function buildLayers(
  project: Project,
  externals: readonly ExternalPackage[],
  {
    onInstall,
    signal,
  }: { readonly onInstall: (platform: string) => void; readonly signal: AbortSignal | undefined },
): Promise<Layers> {
  const { plans, withoutScript, npmrcFolders } = planLayers(project, externals);
  if (plans.length === 0) return { layers: [], withoutScript };
  const layers: Layer[] = [];
  const folderOfLayers = join(project.dir, '.millrace', 'layers');
  await makeFolder(folderOfLayers);
  await writeFile(join(folderOfLayers, '.gitignore'), '*\n');
  for (const { plan, scripts } of plans)
    layers.push(
      await builtLayer(plan, scripts, folderOfLayers, async (file) => {
        if (plan.copies) return withCopies(plan.copies, (copied) => packLayer(copied, file));
        onInstall(plan.platform);
        const options = { npmrcFolders, scripts, signal };
        return withInstalled(plan, options, (installed) => packLayer(installed, file));
      }),
    );
  await pruneLayers(folderOfLayers, new Set(layers.map(({ file }) => file)));
  return { layers, withoutScript };
}

/** Packages that the code imports, plus those that the configuration adds. */
function layerRoots(
  project: Project,
  externals: readonly ExternalPackage[],
): (LayerRoot & { why: string })[] {
  const roots = externals.map(({ name, folder, why }) => ({ name, folder, why }));
  for (const { name: extension, packages = [] } of project.build.extensions) {
    for (const name of packages) {
      if (roots.some((root) => root.name === name)) continue;
      const folder = folderOf(project.dir, name);
      if (folder === undefined)
        throw new LayerRefused(`${name} (${extension}) is not installed: run \`npm install ${name}\`.`);
      roots.push({ name, folder, why: `it is added by ${extension}` });
    }
  }
  return roots.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function folderOf(from: string, name: string): string | undefined {
  for (let at = from; ; at = join(at, '..')) {
    const folder = join(at, 'node_modules', name);
    if (existsSync(join(folder, 'package.json'))) return folder;
    if (at === join(at, '..')) return undefined;
  }
}

async function builtLayer(
  plan: LayerPlan,
  scripts: readonly string[],
  folder: string,
  build: (file: string) => Promise<Digests>,
): Promise<Layer> {
  const { platform } = plan;
  // The result of a script depends on the Node.js version that executes it.
  const suffix =
    scripts.length === 0
      ? ''
      : `-${createHash('sha256').update(`${scripts.join()} ${process.versions.modules}`).digest('hex').slice(0, 8)}`;
  const file = join(folder, `${plan.key}${suffix}.tar.gz`);
  const packages = Object.entries(plan.packages).map(
    ([location, { version }]) => `${nameAt(location)}@${version}`,
  );
  const stored = await storedDigests(file);
  if (stored) return { ...stored, platform, file, packages, isNew: false };
  const half = join(folder, `.half-${process.pid}-${Math.random().toString(36).slice(2)}`);
  try {
    const digests = await build(half);
    await renameOver(half, file);
    await writeFile(`${half}.json`, JSON.stringify(digests));
    await renameOver(`${half}.json`, `${file}.json`);
    return { ...digests, platform, file, packages, isNew: true };
  } finally {
    await rm(half, { force: true });
  }
}

/** The digests of a layer on this machine; undefined if there is none, or its file was changed. */
async function storedDigests(file: string): Promise<Digests | undefined> {
  try {
    const digests = JSON.parse(await readFile(`${file}.json`, 'utf8')) as Digests;
    const hash = createHash('sha256');
    for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
    if (hash.digest('hex') !== digests.blob) return undefined;
    await utimes(file, new Date(), new Date());
    return digests;
  } catch {
    return undefined;
  }
}

async function pruneLayers(folder: string, inUse: ReadonlySet<string>): Promise<void> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.tar.gz'));
  const found = await Promise.all(
    files.map(async (name) => {
      const path = join(folder, name);
      return { path, used: (await stat(path).catch(() => undefined))?.mtimeMs ?? 0 };
    }),
  );
  const old = found.toSorted((a, b) => b.used - a.used).slice(maxLayers);
  for (const { path } of old) {
    if (inUse.has(path)) continue;
    await rm(path, { force: true });
    await rm(`${path}.json`, { force: true });
  }
}
