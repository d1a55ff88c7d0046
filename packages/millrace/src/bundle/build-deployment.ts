import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BuildOptions, Metafile, Plugin } from 'esbuild';
import { locateSdk } from '../executor/sdk.ts';
import type { Project } from '../project/load.ts';
import type { Problem } from '../project/problem.ts';
import type { Entry, Output } from './build.ts';
import { externalPackages, packagesEntry, type ExternalPackage } from './external-packages.ts';
import { inBuild, isBuildFailure, problemOf, slashes } from './messages.ts';
import { moduleOptions, outputOf } from './module-options.ts';
import { installedFolder, packageOf, readManifest } from './package-folder.ts';
import { publishedPlugins } from './published-plugins.ts';
import { withEsbuild } from './with-esbuild.ts';

/** The code of a project with its packages, as a deployed version has it. */
export interface DeploymentBuild {
  readonly entries: readonly Entry[];
  /** The module that exports `@millrace/sdk/executor` of the project's SDK. */
  readonly sdk: string;
  readonly outputs: readonly Output[];
  /** Packages that are not in the modules. */
  readonly externals: readonly ExternalPackage[];
  /** Bytes of the modules by package; the project's own files and workspace packages under an empty name. */
  readonly bytesByPackage: ReadonlyMap<string, number>;
  /** Nothing else is there if there are any. */
  readonly problems: readonly Problem[];
}

const sdkEntry = 'millrace-sdk';

/**
 * Bundles task files with their packages. Paths of the outputs, and the source paths in source maps, are relative to the project, so that
 * a version has the same stack traces wherever it is unpacked.
 */
export async function buildDeployment(project: Project, nodeMajor: number): Promise<DeploymentBuild> {
  try {
    return await compile(project, nodeMajor);
  } catch (failure) {
    if (!isBuildFailure(failure)) throw failure;
    const problems = failure.errors.map((message) => problemOf(message, project.taskFiles[0] ?? ''));
    return { entries: [], sdk: '', outputs: [], externals: [], bytesByPackage: new Map(), problems };
  }
}

async function compile(project: Project, nodeMajor: number): Promise<DeploymentBuild> {
  const found = new Map<string, ExternalPackage>();
  const options = {
    ...moduleOptions(project),
    entryPoints: [
      ...project.taskFiles.map((file) => ({ in: join(project.dir, file), out: outputOf(file) })),
      { in: `${sdkEntry}:`, out: sdkEntry },
      { in: `${packagesEntry}:`, out: packagesEntry },
    ],
    outdir: project.dir,
    // A task file may have the path of a module. Nothing is written.
    allowOverwrite: true,
    target: `node${nodeMajor}`,
    // What CommonJS packages expect. `__dirname` is the folder of the module that contains their code.
    banner: {
      js: [
        "import { createRequire as __createRequire } from 'node:module';",
        "import { dirname as __millraceDirname } from 'node:path';",
        "import { fileURLToPath as __millraceToPath } from 'node:url';",
        'const require = __createRequire(import.meta.url);',
        'const __millraceFile = __millraceToPath(import.meta.url);',
        'const __millraceFolder = __millraceDirname(__millraceFile);',
      ].join(' '),
    },
    plugins: [
      ownEntry(sdkEntry, project.dir, async () => exportsOf(fileURLToPath(locateSdk(project.dir)))),
      ownEntry(packagesEntry, project.dir, async () => importsOf(await importedPackages(project))),
      ...(await publishedPlugins(project, 'deploy')),
      externalPackages(new Set(project.build.external), readManifest(project.dir), found),
    ],
  } satisfies BuildOptions;
  const define = { __filename: '__millraceFile', __dirname: '__millraceFolder', ...options.define };
  const { outputFiles, metafile } = await withEsbuild((esbuild) => esbuild.build({ ...options, define }));
  const entries: Entry[] = [];
  for (const [path, { entryPoint }] of Object.entries(metafile.outputs)) {
    if (entryPoint === undefined || /^millrace-[a-z]+:/.test(entryPoint)) continue;
    entries.push({ source: slashes(entryPoint), module: path });
  }
  return {
    entries: entries.toSorted((a, b) => (a.source < b.source ? -1 : 1)),
    sdk: `${sdkEntry}.mjs`,
    outputs: outputFiles
      .map(({ path, contents }) => ({ path: inBuild(path, project.dir), contents }))
      .filter(({ path }) => !path.startsWith(`${packagesEntry}.mjs`)),
    externals: [...found.values()],
    bytesByPackage: bytesByPackage(metafile, project.dir),
    problems: [],
  };
}

const exportsOf = (file: string): string => `export * from ${JSON.stringify(file)};`;

/** An entry that is in no file. */
const ownEntry = (name: string, resolveDir: string, contents: () => Promise<string>): Plugin => ({
  name,
  setup(build) {
    build.onResolve({ filter: new RegExp(`^${name}:$`) }, ({ path }) => ({ path, namespace: name }));
    build.onLoad({ filter: /.*/, namespace: name }, async () => ({ contents: await contents(), resolveDir }));
  },
});

/**
 * Imports packages for nothing but the import. What an entry shares with this one becomes a module of its own, so a change of a task file
 * does not change the module with the packages that it uses.
 */
const importsOf = (packages: readonly string[]): string =>
  packages.map((name) => `import ${JSON.stringify(name)};\n`).join('');

/** What the files of a project import from packages; nothing if they cannot be compiled, which the build that asks says itself. */
async function importedPackages(project: Project): Promise<string[]> {
  const built = await withEsbuild((esbuild) =>
    esbuild.build({
      ...moduleOptions(project),
      entryPoints: project.taskFiles.map((file) => ({ in: join(project.dir, file), out: outputOf(file) })),
      outdir: project.dir,
      allowOverwrite: true,
      packages: 'external',
    }),
  ).catch((failure: unknown) => {
    if (isBuildFailure(failure)) return undefined;
    throw failure;
  });
  if (built === undefined) return [];
  const { metafile } = built;
  const imports = Object.values(metafile.inputs).flatMap((input) => input.imports);
  const packages = imports.filter(({ external, path }) => external && !isBuiltin(path) && packageOf(path));
  return [...new Set(packages.map(({ path }) => path))].toSorted();
}

function bytesByPackage({ outputs }: Metafile, projectDir: string): Map<string, number> {
  const bytes = new Map<string, number>();
  for (const { inputs } of Object.values(outputs)) {
    for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
      const folder = installedFolder(join(projectDir, path));
      const { name = '', version = '' } = folder === undefined ? {} : readManifest(folder);
      const label = name === '' ? '' : `${name}@${version}`;
      bytes.set(label, (bytes.get(label) ?? 0) + bytesInOutput);
    }
  }
  return bytes;
}
