import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readManifest } from '@millrace/diagnostics';

const platformName = /(?:^|[-_/.])(?:linux|darwin|win32|windows|macos|freebsd|android)(?:$|[-_/.])/;

/** Packages whose optional dependencies are only for their own build. The published SDK imports this one. */
const bundledAnyway: ReadonlySet<string> = new Set(['@electric-sql/client']);

/**
 * The reason why an installed package cannot be bundled; undefined if it can. `needsNoScript`: the project declares that the package's install
 * script is not needed.
 */
export function whyNotBundled(folder: string, needsNoScript: boolean): string | undefined {
  const manifest = readManifest(folder);
  if (manifest.name !== undefined && bundledAnyway.has(manifest.name)) return undefined;
  const { scripts = {}, optionalDependencies = {}, binary, gypfile } = manifest;
  const platforms = Object.keys(optionalDependencies).find((dependency) => platformName.test(dependency));
  if (platforms !== undefined) return `it has packages for each platform (${platforms})`;
  if (binary !== undefined) return 'it has a binary (`binary` in its package.json)';
  if (gypfile === true || existsSync(join(folder, 'binding.gyp'))) return 'it has native code (binding.gyp)';
  if (existsSync(join(folder, 'prebuilds'))) return 'it has native code (prebuilds)';
  const native = nativeFile(folder);
  if (native !== undefined) return `it has native code (${native})`;
  const script = ['preinstall', 'install', 'postinstall'].find((name) => scripts[name] !== undefined);
  return script !== undefined && !needsNoScript ? `it has an install script (${script})` : undefined;
}

/** The first `.node` file of a package, excluding nested packages. */
function nativeFile(folder: string): string | undefined {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isFile() && entry.name.endsWith('.node')) return entry.name;
    if (!entry.isDirectory() || entry.name === 'node_modules') continue;
    const found = nativeFile(join(folder, entry.name));
    if (found !== undefined) return `${entry.name}/${found}`;
  }
  return undefined;
}
