import { existsSync } from 'node:fs';
import { dirname, extname, isAbsolute, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageOf, readManifest } from '@millrace/diagnostics';
import type { ImportKind, OnResolveResult, Plugin } from 'esbuild';
import { slashes } from './messages.ts';

/** The namespace of modules that only `require` a package. */
const namespace = 'required';

/** An import of an installed package that is not bundled. */
export interface OutsideImport {
  /** The specifier that Node.js resolves from the folder of the build, or a file. */
  readonly path: string;
  readonly kind: ImportKind;
  readonly attributes: Readonly<Record<string, string>>;
  /** The imported file, and the folder of its package. */
  readonly file: string;
  readonly folder: string;
  readonly sideEffects: boolean;
}

/**
 * Imports an installed package that is not bundled as if it were bundled: packages without an `exports` map are imported without file
 * extensions, and CommonJS modules have the exports that a bundler finds, not only those that Node.js finds.
 */
export function outside({
  path,
  kind,
  attributes,
  file,
  folder,
  sideEffects,
}: OutsideImport): OnResolveResult {
  const isImport = kind === 'import-statement' || kind === 'dynamic-import';
  const isMapped = readManifest(folder).exports !== undefined || Object.keys(attributes).length > 0;
  if (isImport && !isMapped && isCommonJs(file)) return { path, namespace, sideEffects };
  if (isImport && isAbsolute(path)) return { path: pathToFileURL(path).href, external: true };
  const name = packageOf(path);
  const isDeep = isImport && !isMapped && name !== undefined && name !== path;
  return { path: isDeep ? `${name}/${slashes(relative(folder, file))}` : path, external: true };
}

/** Loads the modules that `outside` requires. */
export const requiredPackages: Plugin = {
  name: 'required-packages',
  setup(build) {
    build.onResolve({ filter: /.*/, namespace }, ({ path }) => ({ path, external: true }));
    build.onLoad({ filter: /.*/, namespace }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)});`,
    }));
  },
};

/** Whether Node.js treats a file as CommonJS, or as JSON, which only `require` reads without an attribute. */
function isCommonJs(file: string): boolean {
  const extension = extname(file);
  if (extension === '.cjs' || extension === '.json') return true;
  if (extension !== '.js') return false;
  for (let folder = dirname(file); ; folder = dirname(folder))
    if (existsSync(join(folder, 'package.json')) || folder === dirname(folder))
      return readManifest(folder).type !== 'module';
}
