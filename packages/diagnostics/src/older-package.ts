import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
// Executors import this file, and need no other part of the package.
import satisfies from 'semver/functions/satisfies.js';
import { installedFolder, manifestFolder, readManifest } from './installed-package.ts';

const notExported =
  /^Package subpath '\.(\/[^']+)' is not defined by "exports" in (.+?)[\\/]package\.json(?: imported from (.+))?$/;

/** Explains Node.js's error about a module that the installed version of a package does not have; undefined for other errors. */
export function explainNotExported(error: Error): string | undefined {
  const [, subpath, folder, from] = notExported.exec(error.message) ?? [];
  if (subpath === undefined || folder === undefined) return undefined;
  return explainMissing(subpath, folder, from?.startsWith('file:') ? fileURLToPath(from) : from);
}

/** Explains which version of a package has an imported module. `folder` is where the package is installed. */
export function explainMissing(subpath: string, folder: string, importer: string | undefined): string {
  const { name = '', version = '' } = readManifest(folder);
  const importing =
    importer === undefined ? undefined : (installedFolder(importer) ?? manifestFolder(dirname(importer)));
  const user = importing === undefined || importing === folder ? {} : readManifest(importing);
  const missing = `${name} ${version} is installed, which has no "${name}${subpath}"`;
  const range = user.peerDependencies?.[name] ?? user.dependencies?.[name];
  if (range === undefined || satisfies(version, range))
    return `${missing}: run \`npm install ${name}@latest\`, or use only its exports`;
  const alternatives = range.split('||').map((alternative) => alternative.trim());
  const majorOf = (text: string): string | undefined => /\d+/.exec(text)?.[0];
  const nearest = alternatives.find((alternative) => majorOf(alternative) === majorOf(version));
  const target = nearest ?? alternatives.at(-1) ?? range;
  return `${missing}: ${user.name} ${user.version ?? ''} needs ${name} ${range}. Run \`npm install ${name}@"${target}"\``;
}
