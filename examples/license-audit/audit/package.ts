import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface InstalledPackage {
  readonly name: string;
  readonly folder: string;
  /** False for packages that `npm ci --omit=dev` leaves out. */
  readonly isProduction: boolean;
}

export interface FoundPackage {
  readonly name: string;
  readonly version: string;
  readonly manifest: Readonly<Record<string, unknown>>;
  /** Files with the text of a licence. */
  readonly licenceTexts: readonly string[];
}

interface LockFile {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly link?: boolean }>>;
}

const modules = 'node_modules/';
const licenceText = /^(?:un)?licen[cs]e|^copying/i;

/** The packages that npm has installed for a project. Its workspaces, which are links, are left out. */
export async function installedPackages(project: string): Promise<InstalledPackage[]> {
  const lock = JSON.parse(await readFile(join(project, 'package-lock.json'), 'utf8')) as LockFile;
  const packages = Object.entries(lock.packages)
    .filter(([path, { link }]) => path.includes(modules) && !link)
    .map(([path, { dev }]) => ({
      name: path.slice(path.lastIndexOf(modules) + modules.length),
      folder: join(project, path),
      isProduction: !dev,
    }));
  // The lock file also lists the packages of other platforms.
  return packages.filter(({ folder }) => existsSync(join(folder, 'package.json')));
}

/** Reads the manifest of an installed package and finds its licence texts. */
export async function readPackage(folder: string): Promise<FoundPackage> {
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Record<
    string,
    unknown
  >;
  const files = await readdir(folder);
  return {
    name: String(manifest['name']),
    version: String(manifest['version']),
    manifest,
    licenceTexts: files.filter((file) => licenceText.test(file)).toSorted(),
  };
}
