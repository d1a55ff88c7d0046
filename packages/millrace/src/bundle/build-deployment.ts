import { isBuiltin } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Entry, locateSdk } from '@millrace/runner';
import { installedFolder, packageOf, type Problem, readManifest } from '@millrace/diagnostics';
import { publishedPlugins, refusedUses } from '@millrace/compat';
import type { BuildOptions, BuildResult, Message, Metafile, Plugin } from 'esbuild';
import type { Project } from '../project/load.ts';
import type { Output } from './build.ts';
import { externalPackages, packagesEntry, type ExternalPackage } from './external-packages.ts';
import { filesBeside } from './files-beside.ts';
import { localModules } from './local-modules.ts';
import { inBuild, isBuildFailure, problemOf, slashes } from './messages.ts';
import { entriesOf, filesOf, moduleOptions, outputOf, tsconfigOf } from './module-options.ts';
import { withRoot } from './source-path.ts';
import { namedFiles, type NamedFile } from './named-files.ts';
import { requiredPackages } from './package-modules.ts';
import { compilerOptions } from './tsconfig.ts';
import { keepWhole, type WholePackages } from './whole/keep-whole.ts';
import { namedPackages } from './whole/named-packages.ts';
import { withEsbuild } from './with-esbuild.ts';

/** The code of a project with its packages, in the form of a deployed version. */
export interface DeploymentBuild {
  readonly entries: readonly Entry[];
  /** The module that exports `@millrace/sdk/executor` of the project's SDK. */
  readonly sdk: string;
  readonly outputs: readonly Output[];
  /** Packages that are not in the modules. */
  readonly externals: readonly ExternalPackage[];
  /** Messages about files that may be missing at run time. */
  readonly warnings: readonly string[];
  /** Files that the code of the project refers to by paths relative to itself. Some may not be in the outputs. */
  readonly namedFiles: readonly NamedFile[];
  /** Bytes of the modules by package; the project's own files and workspace packages under an empty name. */
  readonly bytesByPackage: ReadonlyMap<string, number>;
  /** If there are any, everything else is empty. */
  readonly problems: readonly Problem[];
  /** Unsupported uses of the published SDK. */
  readonly refused: readonly Problem[];
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
    const problems = failure.errors.map((message) =>
      problemOf(message, project.taskFiles[0] ?? '', project.dir),
    );
    return {
      entries: [],
      sdk: '',
      outputs: [],
      externals: [],
      warnings: [],
      namedFiles: [],
      bytesByPackage: new Map(),
      problems,
      refused: [],
    };
  }
}

async function compile(project: Project, nodeMajor: number): Promise<DeploymentBuild> {
  const found = new Map<string, ExternalPackage>();
  const whole = keepWhole(project.dir);
  const filesWithOwnPaths = new Set<string>();
  const pathBelowRoot = (file: string): string => outputOf(slashes(relative(project.dir, file)));
  const options = {
    ...moduleOptions(project),
    entryPoints: [
      ...project.taskFiles.map((file) => ({ in: join(project.dir, file), out: outputOf(file) })),
      { in: `${sdkEntry}:`, out: sdkEntry },
      { in: `${packagesEntry}:`, out: packagesEntry },
    ],
    outdir: project.dir,
    // A task file may have the same path as a module. Nothing is written.
    allowOverwrite: true,
    target: `node${nodeMajor}`,
    plugins: [
      ownEntry(sdkEntry, project.dir, async () => exportsOf(fileURLToPath(locateSdk(project.dir)))),
      ownEntry(packagesEntry, project.dir, async () => importsOf(await importedPackages(project))),
      ...(await publishedPlugins(project, 'deploy')),
      requiredPackages,
      externalPackages(new Set(project.build.external), readManifest(project.dir), whole.why, found),
      localModules({
        projectDir: project.dir,
        optionsOf: compilerOptions(tsconfigOf(project)),
        pathBelowRoot,
        onOwnPath: (file) => void filesWithOwnPaths.add(file),
      }),
    ],
  } satisfies BuildOptions;
  const { outputFiles, metafile, warnings } = await buildWhole(options, whole, found);
  const externals = [...found.values()];
  const modules = outputFiles
    .map(({ path, contents }) => ({
      path: inBuild(path, project.dir),
      contents: withRoot(contents, path, project.dir),
    }))
    .filter(({ path }) => !path.startsWith(`${packagesEntry}.mjs`));
  const foldersOfOwnPaths = new Set([...filesWithOwnPaths].map((file) => dirname(file)));
  const named = await namedPackages(project.dir, metafile, externals);
  return {
    entries: entriesOf(project.taskFiles),
    sdk: `${sdkEntry}.mjs`,
    outputs: [...modules, ...(await filesBeside(foldersOfOwnPaths, pathBelowRoot))],
    externals: [...externals, ...named.packages],
    warnings: [...whole.warnings(), ...named.warnings, ...emptyPatterns(warnings)],
    namedFiles: await namedFiles(project.dir, [...filesWithOwnPaths].toSorted()),
    bytesByPackage: bytesByPackage(metafile, project.dir),
    problems: [],
    refused: await refusedUses(project, filesOf(metafile).map(slashes)),
  };
}

const inMemory = { metafile: true, write: false } as const;

/** An `import()` of a template that matches no file in the project, which fails in every run. */
const emptyPatterns = (warnings: readonly Message[]): string[] =>
  warnings
    .filter(({ id }) => id === 'empty-glob')
    .map(
      ({ location }) =>
        `${location?.file}:${location?.line}: no file matches \`${location?.lineText.trim()}\`. ` +
        'An import() of a template must use the file names of the project, with .ts instead of .js.',
    );

/** Builds repeatedly, until the modules contain no package that must be kept whole. */
async function buildWhole(
  options: BuildOptions & typeof inMemory,
  whole: WholePackages,
  found: ReadonlyMap<string, ExternalPackage>,
): Promise<BuildResult<typeof inMemory>> {
  return withEsbuild(async (esbuild) => {
    const context = await esbuild.context<BuildOptions & typeof inMemory>(options);
    try {
      for (;;) {
        const built = await context.rebuild().catch((failure: unknown) => {
          if (isBuildFailure(failure) && whole.learnFrom(failure.errors)) return undefined;
          throw failure;
        });
        if (built !== undefined && !(await whole.learn(built.metafile, found.values()))) return built;
      }
    } finally {
      await context.dispose();
    }
  });
}

const exportsOf = (file: string): string => `export * from ${JSON.stringify(file)};`;

/** A virtual entry. */
const ownEntry = (name: string, resolveDir: string, contents: () => Promise<string>): Plugin => ({
  name,
  setup(build) {
    build.onResolve({ filter: new RegExp(`^${name}:$`) }, ({ path }) => ({ path, namespace: name }));
    build.onLoad({ filter: /.*/, namespace: name }, async () => ({ contents: await contents(), resolveDir }));
  },
});

/**
 * Imports packages for their side effects only. Modules that an entry shares with this one become separate chunks, so a change of a task file
 * does not change the chunk with its packages.
 */
const importsOf = (packages: readonly string[]): string =>
  packages.map((name) => `import ${JSON.stringify(name)};\n`).join('');

/** The packages that the files of a project import. Empty if they cannot be compiled; the calling build reports that itself. */
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
