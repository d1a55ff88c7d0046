import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Metafile } from 'esbuild';
import type { ExternalPackage } from '../external-packages.ts';
import { installedFolder, manifestFolder, readManifest, sharedPackages } from '../package-folder.ts';
import { dependencyNames, installedFrom } from './closure.ts';

/** A string outside of imports. */
const literal =
  /(?<!\b(?:from|import|module|require)\s*\(?\s*)(["'`])((?:@[\w.~-]+\/)?[\w.~-]+)(?:\/[\w./~-]+)?\1/g;

/** The SDK may be a linked package. */
const isOfSdk = (file: string): boolean =>
  sharedPackages.test(readManifest(manifestFolder(dirname(file)) ?? '').name ?? '');

/**
 * Dependencies of a project that its code names in a string, as in `pino.transport({ target: 'pino-pretty' })`: a package that is kept
 * whole may load them.
 */
export async function namedPackages(
  projectDir: string,
  { inputs }: Metafile,
  externals: readonly ExternalPackage[],
): Promise<ExternalPackage[]> {
  if (externals.length === 0) return [];
  const names = new Set(dependencyNames(readManifest(projectDir)));
  for (const { name } of externals) names.delete(name);
  const found = new Map<string, ExternalPackage>();
  for (const path of Object.keys(inputs)) {
    const file = join(projectDir, path);
    if (installedFolder(file) !== undefined || isOfSdk(file)) continue;
    const code = await readFile(file, 'utf8').catch(() => '');
    for (const [, , name = ''] of code.matchAll(literal)) {
      if (!names.delete(name)) continue;
      const folder = installedFrom(projectDir, name);
      if (folder !== undefined && installedFolder(folder) !== undefined)
        found.set(name, { name, folder, why: `the code names it (${path})`, importer: file });
    }
  }
  return [...found.values()];
}
