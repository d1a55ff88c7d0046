import { readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { installedFolder, manifestFolder, readManifest, sharedPackages } from '@millrace/diagnostics';
import type { Metafile } from 'esbuild';
import type { ExternalPackage } from '../external-packages.ts';
import { slashes } from '../messages.ts';
import { dependencyNames, installedFrom } from './closure.ts';
import { searchFile } from './search-file.ts';
import { findComputedLoad } from './self-reference.ts';

/** Packages that no import refers to. */
export interface NamedPackages {
  readonly packages: readonly ExternalPackage[];
  /** Messages about files that load unknown modules. */
  readonly warnings: readonly string[];
}

/** The name of a package, or a path in it, in a string. */
const literal = /(["'`])(?:[^"'`\n]*\bnode_modules\/)?((?:@[\w.~-]+\/)?[\w.~-]+)(?:\/[\w./~-]+)?\1/g;
/** Before the string of an import, which a bundler follows. */
const importing = /\b(?:from|import|module|require)\s*\(?\s*$/;
const importingStatically = /\b(?:from|import)\s*\(?\s*$/;
/** A file with one of these resolves packages itself: a bundler leaves the call unchanged. */
const findsByItself =
  /\bcreateRequire\b|\bimport\s*\.\s*meta\s*\.\s*resolve\b|\brequire\s*\.\s*resolve\b|["'`/]node_modules["'`/]/;

/** The SDK may be a linked package. */
const isOfSdk = (file: string): boolean =>
  sharedPackages.test(readManifest(manifestFolder(dirname(file)) ?? '').name ?? '');

/**
 * Dependencies of a project that its code names in a string. All of them if they may be loaded elsewhere: by a package that is kept whole, as
 * in `pino.transport({ target: 'pino-pretty' })`, or by code with computed names, as in `import(drivers[kind])`. Otherwise those in files that
 * resolve packages themselves, as with `createRequire(import.meta.url)('pdf-parse')`.
 */
export async function namedPackages(
  projectDir: string,
  { inputs }: Metafile,
  externals: readonly ExternalPackage[],
): Promise<NamedPackages> {
  const files = Object.keys(inputs)
    .map((path) => join(projectDir, path))
    .filter((file) => installedFolder(file) === undefined && !isOfSdk(file));
  const computing: string[] = [];
  for (const file of files) {
    const found = await searchFile(file, findComputedLoad);
    if (found !== undefined && found !== 'unreadable') computing.push(file);
  }
  const isAny = externals.length > 0 || computing.length > 0;
  const names = new Set(
    [...dependencyNames(readManifest(projectDir))].filter((name) => !sharedPackages.test(name)),
  );
  for (const { name } of externals) names.delete(name);
  const packages: ExternalPackage[] = [];
  for (const file of files) {
    const code = await readFile(file, 'utf8').catch(() => '');
    const isFinder = findsByItself.test(code);
    if (!isAny && !isFinder) continue;
    const skipped = isFinder ? importingStatically : importing;
    for (const { 2: name = '', index } of code.matchAll(literal)) {
      if (!names.has(name) || skipped.test(code.slice(Math.max(0, index - 40), index))) continue;
      names.delete(name);
      const folder = installedFrom(projectDir, name);
      const path = slashes(relative(projectDir, file));
      if (folder !== undefined && installedFolder(folder) !== undefined)
        packages.push({ name, folder, why: `the code refers to it (${path})`, importer: file });
    }
  }
  const isUnknown = externals.length + packages.length === 0;
  return { packages, warnings: isUnknown ? computing.map((file) => warningOf(projectDir, file)) : [] };
}

const warningOf = (projectDir: string, file: string): string =>
  `${slashes(relative(projectDir, file))} loads modules by computed names: add packages that are not imported elsewhere to build.external, and files with copyFiles.`;
