import { isBuiltin } from 'node:module';
import { sep } from 'node:path';
import { installedFolder, sharedPackages } from '@millrace/diagnostics';
import type { Plugin, ResolveOptions } from 'esbuild';
import { outside } from './package-modules.ts';

/**
 * Excludes installed packages, and bundles imports that resolve outside of `node_modules`: packages of a workspace, whose sources are often
 * TypeScript that Node.js cannot import.
 */
export function workspacePackages(projectDir: string): Plugin {
  const resolving = {};
  return {
    name: 'workspace-packages',
    setup(build) {
      build.onResolve({ filter: /^[^./]/ }, async ({ path, pluginData, kind, ...from }) => {
        if (pluginData === resolving || kind === 'entry-point') return undefined;
        if (isBuiltin(path) || sharedPackages.test(path)) return { path, external: true };
        const { importer, resolveDir, namespace, with: attributes } = from;
        const options = { kind, importer, resolveDir, namespace, with: attributes, pluginData: resolving };
        const resolved = await build.resolve(path, options);
        // An import that cannot be resolved is reported for its file when that file is imported.
        if (resolved.errors.length > 0 || resolved.external) return { path, external: true };
        const { path: file, sideEffects } = resolved;
        const folder = installedFolder(file);
        if (folder === undefined) return { path: file, namespace: resolved.namespace, sideEffects };
        // Builds are inside the project, and cannot find a package that is only installed for a workspace package.
        const isFound =
          isBelow(projectDir, resolveDir) || (await foundFrom(projectDir, path, options)) === file;
        return outside({ path: isFound ? path : file, kind, attributes, file, folder, sideEffects });
      });

      const foundFrom = async (resolveDir: string, path: string, options: ResolveOptions): Promise<string> =>
        (await build.resolve(path, { ...options, resolveDir })).path;
    },
  };
}

const isBelow = (folder: string, path: string): boolean => path === folder || path.startsWith(folder + sep);
