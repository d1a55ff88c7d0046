/** Bundles the published packages into their `dist` folders, unless nothing has changed: `node build/bundle.ts`. */
import { existsSync } from 'node:fs';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, sep } from 'node:path';
import * as esbuild from 'esbuild';
import { exportedModules } from './exported-modules.ts';
import { writeNotices } from './notices.ts';
import { publishedPackages, type PublishedPackage } from './packages.ts';
import { filesOfEntries, withoutEntries } from './private-entries.ts';
import { copyReference } from './reference.ts';
import { outdated, root } from './up-to-date.ts';

/** CommonJS packages in the bundle call `require` for Node.js built-in modules. */
const banner =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";

/** prom-client requires it. Copies of this package share their state, so the user's copy is used if there is one. */
const ownTelemetryApi: esbuild.Plugin = {
  name: 'own-telemetry-api',
  setup(build) {
    build.onResolve({ filter: /^@opentelemetry\/api$/ }, ({ importer, path }) =>
      importer.includes(`${sep}prom-client${sep}`)
        ? { path: createRequire(importer).resolve(path) }
        : undefined,
    );
  },
};

/** Leaves the choice of the SDK's transport to `imports` in its package.json. */
const transportByPlatform: esbuild.Plugin = {
  name: 'transport-by-platform',
  setup(build) {
    build.onResolve({ filter: /\/transport\/index\.ts$/ }, () => ({ path: '#transport', external: true }));
  },
};

/**
 * Imports the exports of private packages' entries from their own files. esbuild puts whole files into chunks, so with an entry a command would
 * load all exports of the package: `millrace dev` the server, before it starts PostgreSQL.
 */
async function withoutPrivateEntries(folders: readonly string[]): Promise<esbuild.Plugin> {
  const findFile = await filesOfEntries(folders);
  const pathTo = (file: string): string =>
    join(root, 'packages', file.replace('/', '/src/')).replaceAll('\\', '/');
  return {
    name: 'without-private-entries',
    setup(build) {
      build.onLoad({ filter: /[\\/]packages[\\/][\w-]+[\\/]src[\\/].*\.ts$/ }, async ({ path }) => ({
        contents: withoutEntries(await readFile(path, 'utf8'), findFile, pathTo),
        loader: 'ts',
      }));
    },
  };
}

async function bundle({
  folder,
  programs = {},
  includes = [],
  platform,
  external,
}: PublishedPackage): Promise<void> {
  const packageFolder = join(root, 'packages', folder);
  const exported = (await exportedModules(packageFolder)).map((module) => [
    module,
    `${folder}/src/${module}`,
  ]);
  const outdir = join(packageFolder, 'dist');
  const { metafile } = await esbuild.build({
    absWorkingDir: root,
    entryPoints: Object.fromEntries(
      [...exported, ...Object.entries(programs)].map(([out, source]) => [
        out,
        join(root, `packages/${source}.ts`),
      ]),
    ),
    outdir,
    bundle: true,
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    format: 'esm',
    platform,
    target: 'node20.19',
    tsconfig: join(root, 'tsconfig.source.json'),
    // ES modules of packages first: they are smaller, and unused parts of them can be left out.
    mainFields: ['module', 'main'],
    external: ['node:*', ...Object.keys(external)],
    plugins: [
      ownTelemetryApi,
      transportByPlatform,
      ...(includes.length > 0 ? [await withoutPrivateEntries(includes)] : []),
    ],
    sourcemap: true,
    sourcesContent: false,
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
    ...(platform === 'node' && { banner: { js: banner } }),
  });
  await writeNotices(root, packageFolder, metafile);
  await removeOldChunks(
    join(outdir, 'chunks'),
    new Set(Object.keys(metafile.outputs).map((path) => join(root, path))),
  );
}

/** Chunks of earlier builds are kept for a while, because a running process may load one later. */
const staleMs = 3_600_000;

async function removeOldChunks(folder: string, current: ReadonlySet<string>): Promise<void> {
  for (const name of existsSync(folder) ? await readdir(folder) : []) {
    const file = join(folder, name);
    if (current.has(file)) continue;
    const { mtimeMs } = await stat(file);
    if (Date.now() - mtimeMs > staleMs) await rm(file);
  }
}

const inputs = [
  'build',
  'package-lock.json',
  'tsconfig.base.json',
  'tsconfig.source.json',
  ...publishedPackages
    .flatMap(({ folder, includes = [] }) => [folder, ...includes])
    .flatMap((folder) => [`packages/${folder}/src`, `packages/${folder}/package.json`]),
];
const done = await outdated('bundles', inputs);
const areThere = publishedPackages.every(({ folder }) => existsSync(join(root, 'packages', folder, 'dist')));
if (done || !areThere) {
  await Promise.all([copyReference(join(root, 'packages/server')), ...publishedPackages.map(bundle)]);
  await done?.();
}
