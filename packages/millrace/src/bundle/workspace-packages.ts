import { isBuiltin } from 'node:module';
import type { Plugin } from 'esbuild';
import { installedFolder } from './package-folder.ts';

/** What executors and task files share: a process has one copy of it. */
const shared = /^@(?:millrace|trigger\.dev)\//;

/**
 * Leaves installed packages outside, and bundles what an import leads to outside of `node_modules`: packages of a workspace, whose sources
 * are often TypeScript that Node.js cannot import.
 */
export function workspacePackages(): Plugin {
  const resolving = {};
  return {
    name: 'workspace-packages',
    setup(build) {
      build.onResolve({ filter: /^[^./]/ }, async ({ path, pluginData, kind, ...from }) => {
        if (pluginData === resolving || kind === 'entry-point') return undefined;
        if (isBuiltin(path) || shared.test(path)) return { path, external: true };
        const { importer, resolveDir, namespace, with: attributes } = from;
        const options = { kind, importer, resolveDir, namespace, with: attributes, pluginData: resolving };
        const resolved = await build.resolve(path, options);
        // What cannot be found is reported when it is imported, by its file.
        if (resolved.errors.length > 0 || resolved.external) return { path, external: true };
        if (installedFolder(resolved.path) !== undefined) return { path, external: true };
        return { path: resolved.path, namespace: resolved.namespace, sideEffects: resolved.sideEffects };
      });
    },
  };
}
