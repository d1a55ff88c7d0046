import { join, relative, sep } from 'node:path';
import { installedFolder, readManifest, sharedPackages } from '@millrace/diagnostics';
import type { Message, Metafile } from 'esbuild';
import type { ExternalPackage } from '../external-packages.ts';
import { slashes } from '../messages.ts';
import { installedFrom, neededBy } from './closure.ts';
import { searchFile } from './search-file.ts';
import { findSelfReference, type SelfReference } from './self-reference.ts';

/** Packages that must stay in their own folder, as discovered by builds. */
export interface WholePackages {
  /** The reason why a package is kept whole; undefined if it may be bundled. */
  why(folder: string): string | undefined;
  /** Examines the bundled files. Returns whether there are more packages to keep whole, so that the build must be repeated. */
  learn(metafile: Metafile, externals: Iterable<ExternalPackage>): Promise<boolean>;
  /** Examines the errors of a failed build. Returns whether the failure is in packages that need not be bundled. */
  learnFrom(errors: readonly Message[]): boolean;
  /** Messages about files that may be missing at run time. */
  warnings(): readonly string[];
}

/** Finds packages that only work in their own folder, and the packages that they need next to them. */
export function keepWhole(projectDir: string): WholePackages {
  const whole = new Map<string, string>();
  const warnings = new Map<string, string>();
  const verdicts = new Map<string, Promise<SelfReference | 'unreadable' | undefined>>();

  const released = new Set<string>();
  const keep = (folder: string | undefined, why: string): boolean => {
    if (folder === undefined || whole.has(folder) || released.has(folder) || isNeverWhole(folder))
      return false;
    whole.set(folder, why);
    return true;
  };
  const release = (folder: string): boolean => {
    released.add(folder);
    return whole.delete(folder);
  };

  const verdictOn = (file: string): Promise<SelfReference | 'unreadable' | undefined> => {
    const verdict = verdicts.get(file) ?? searchFile(file, findSelfReference);
    verdicts.set(file, verdict);
    return verdict;
  };

  const learnFiles = async (metafile: Metafile): Promise<boolean> => {
    let isMore = false;
    for (const path of codeIn(metafile)) {
      const file = join(projectDir, path);
      const folder = installedFolder(file);
      if (folder !== undefined && whole.has(folder)) continue;
      const isOwn = folder === undefined && !relative(projectDir, file).startsWith('..');
      const verdict = isOwn ? undefined : await verdictOn(file);
      if (verdict === undefined) continue;
      const displayPath = slashes(relative(folder ?? projectDir, file));
      if (verdict === 'unreadable' || folder === undefined) {
        warnings.set(file, warningOf(folder, displayPath, verdict));
        continue;
      }
      isMore = keep(folder, reasonOf(verdict, displayPath)) || isMore;
      if (verdict.kind === 'names')
        for (const importer of importersOf(metafile, projectDir, folder))
          isMore = keep(importer, `${nameOf(folder)} loads modules for it`) || isMore;
    }
    return isMore;
  };

  /** The modules import a package by its name, so it must be the one that is resolved from the project. */
  const learnCompanions = (metafile: Metafile, externals: readonly ExternalPackage[]): boolean => {
    let isMore = false;
    for (const { folder, name, importer } of externals) {
      if (installedFrom(projectDir, name) === folder) continue;
      const parent = installedFolder(importer);
      // The SDK is always bundled, and would not find it.
      isMore =
        (parent !== undefined && isNeverWhole(parent)
          ? release(folder)
          : keep(parent, `it has its own ${name}`)) || isMore;
    }
    const bundled = new Set(codeIn(metafile).map((path) => installedFolder(join(projectDir, path))));
    for (const { folder, name } of externals)
      for (const needed of neededBy(folder, projectDir))
        if (bundled.has(needed) && installedFrom(projectDir, nameOf(needed)) === needed)
          isMore = keep(needed, `${name} uses it`) || isMore;
    return isMore;
  };

  return {
    why: (folder) => whole.get(folder),
    async learn(metafile, externals) {
      const isMore = await learnFiles(metafile);
      return learnCompanions(metafile, [...externals]) || isMore;
    },
    learnFrom(errors) {
      let isMore = false;
      for (const { location, text } of errors) {
        const folder = location ? installedFolder(join(projectDir, location.file)) : undefined;
        // Any remaining one is reported when the build is repeated.
        isMore = keep(folder, `it cannot be compiled (${text})`) || isMore;
      }
      return isMore;
    },
    warnings: () => [...warnings.values()],
  };
}

/** The files whose code is in the bundle. */
function codeIn({ outputs }: Metafile): string[] {
  const files = Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
  );
  return [...new Set(files)].filter((path) => /\.[cm]?[jt]sx?$/.test(path));
}

/** The SDK is always in the bundle. */
const isNeverWhole = (folder: string): boolean => sharedPackages.test(readManifest(folder).name ?? '');

const nameOf = (folder: string): string =>
  readManifest(folder).name ?? slashes(folder.slice(folder.lastIndexOf(`node_modules${sep}`) + 13));

const reasonOf = ({ kind, line }: SelfReference, path: string): string =>
  kind === 'files'
    ? `it reads its own files (${path}:${line})`
    : `it loads modules by computed names (${path}:${line})`;

function warningOf(folder: string | undefined, path: string, verdict: SelfReference | 'unreadable'): string {
  if (folder !== undefined)
    return `${nameOf(folder)} is bundled, and ${path} could not be searched for files that it reads: if it is missing a file, add it to build.external.`;
  const finds = verdict !== 'unreadable' && verdict.kind === 'names' ? 'modules by computed names' : 'files';
  return `${path} is a file of a workspace package and is bundled: if it misses ${finds} next to itself, add them with copyFiles.`;
}

/** Packages whose bundled code imports from this one. */
function importersOf({ inputs }: Metafile, projectDir: string, folder: string): Set<string | undefined> {
  const importers = Object.entries(inputs).filter(([, { imports }]) =>
    imports.some(({ path, external }) => !external && installedFolder(join(projectDir, path)) === folder),
  );
  const folders = new Set(importers.map(([path]) => installedFolder(join(projectDir, path))));
  folders.delete(folder);
  return folders;
}
