import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type PackageManifest, readManifest } from '@millrace/diagnostics';

/** The folder of the package that Node.js finds from a folder, with links resolved. */
export function installedFrom(from: string, name: string): string | undefined {
  for (let at = from; ; at = dirname(at)) {
    const folder = join(at, 'node_modules', name);
    if (existsSync(join(folder, 'package.json'))) return realpathSync(folder);
    if (at === dirname(at)) return undefined;
  }
}

/** The folders of all packages that a package depends on. */
export function neededBy(root: string, projectDir: string): Set<string> {
  const chosen = dependencyNames(readManifest(projectDir));
  const folders = new Set<string>();
  const add = (from: string): void => {
    for (const name of neededNames(readManifest(from), chosen)) {
      const folder = installedFrom(from, name);
      if (folder === undefined || folders.has(folder)) continue;
      folders.add(folder);
      add(folder);
    }
  };
  add(root);
  return folders;
}

/** The dependencies of a project, excluding those for development. */
export const dependencyNames = ({
  dependencies,
  optionalDependencies,
}: PackageManifest): ReadonlySet<string> =>
  new Set([...Object.keys(dependencies ?? {}), ...Object.keys(optionalDependencies ?? {})]);

/** An optional peer is needed if the project has chosen it, such as a database driver. */
export function neededNames(
  { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta = {} }: PackageManifest,
  chosen: ReadonlySet<string>,
): Set<string> {
  const peers = [...Object.keys(peerDependencies ?? {}), ...Object.keys(peerDependenciesMeta)];
  return new Set([
    ...Object.keys(dependencies ?? {}),
    ...Object.keys(optionalDependencies ?? {}),
    ...peers.filter((name) => peerDependenciesMeta[name]?.optional !== true || chosen.has(name)),
  ]);
}
