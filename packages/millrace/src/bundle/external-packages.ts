import { isBuiltin } from 'node:module';
import { dirname } from 'node:path';
import {
  allowedScripts,
  installedFolder,
  manifestFolder,
  type PackageManifest,
  packageOf,
  readManifest,
} from '@millrace/diagnostics';
import type { Plugin } from 'esbuild';
import { outside } from './package-modules.ts';
import { whyNotBundled } from './unbundlable.ts';

/** The entry that imports all packages. A package that is installed only for the file that imports it may not resolve here. */
export const packagesEntry = 'millrace-packages';

/** A package that is not bundled and goes into the layer. */
export interface ExternalPackage {
  readonly name: string;
  /** Its folder in the project, with links resolved. */
  readonly folder: string;
  readonly why: string;
  /** The package or file that imports it. */
  readonly importer: string;
}

/** Excludes packages that cannot be bundled, and adds them to `found`, by folder. */
export function externalPackages(
  listed: ReadonlySet<string>,
  project: PackageManifest,
  whyWhole: (folder: string) => string | undefined,
  found: Map<string, ExternalPackage>,
): Plugin {
  const reasons = new Map<string, string | undefined>();
  const judge = (folder: string): string | undefined => {
    if (!reasons.has(folder)) {
      const { name = '', version } = readManifest(folder);
      reasons.set(folder, whyNotBundled(folder, allowedScripts(project, name, version) === false));
    }
    return reasons.get(folder);
  };
  const resolving = {};
  return {
    name: 'external-packages',
    setup(build) {
      build.onStart(() => found.clear());
      build.onResolve(
        { filter: /^[^./#]/ },
        async ({ path, pluginData, kind, with: attributes, ...from }) => {
          const name = packageOf(path);
          if (pluginData === resolving || kind === 'entry-point' || name === undefined || isBuiltin(path))
            return undefined;
          const { importer, resolveDir, namespace } = from;
          const resolved = await build.resolve(path, {
            kind,
            importer,
            resolveDir,
            namespace,
            with: attributes,
            pluginData: resolving,
          });
          if (resolved.errors.length > 0 && namespace === packagesEntry) return { path, external: true };
          // esbuild reports unresolved imports, except a `require` inside a `try`.
          if (resolved.errors.length > 0 || resolved.external || resolved.namespace !== 'file')
            return undefined;
          const installed = installedFolder(resolved.path);
          const why = listed.has(name)
            ? 'it is listed in build.external'
            : installed === undefined
              ? undefined
              : (judge(installed) ?? whyWhole(installed));
          if (why === undefined) return undefined;
          const folder = installed ?? manifestFolder(dirname(resolved.path)) ?? dirname(resolved.path);
          if (!found.has(folder)) found.set(folder, { name, folder, why, importer });
          const { path: file, sideEffects } = resolved;
          return outside({ path, kind, attributes, file, folder, sideEffects });
        },
      );
    },
  };
}
