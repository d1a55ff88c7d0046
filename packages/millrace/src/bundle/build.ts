import { createHash } from 'node:crypto';
import { join, relative } from 'node:path';
import type { Problem } from '@millrace/diagnostics';
import type { Entry } from '@millrace/runner';
import { publishedPlugins, refusedUses } from '@millrace/compat';
import type { BuildOptions, OutputFile } from 'esbuild';
import type { Project } from '../project/load.ts';
import { localModules } from './local-modules.ts';
import { inBuild, isBuildFailure, problemOf, slashes } from './messages.ts';
import { entriesOf, filesOf, moduleOptions, outputOf, tsconfigOf } from './module-options.ts';
import { withRoot } from './source-path.ts';
import { requiredPackages } from './package-modules.ts';
import { store } from './store.ts';
import { compilerOptions } from './tsconfig.ts';
import { workspacePackages } from './workspace-packages.ts';
import { withEsbuild } from './with-esbuild.ts';

/** The task files of a project as JavaScript modules on disk. */
export interface Build {
  /** Digest of the modules and the project's defaults: equal sources produce an equal hash. */
  readonly hash: string;
  readonly dir: string;
  readonly entries: readonly Entry[];
  /** Absolute paths of all local files, including those that failed to compile. */
  readonly inputs: readonly string[];
  /** Task files that do not compile and were skipped, and unsupported uses of the published SDK. */
  readonly problems: readonly Problem[];
}

/**
 * Bundles each task file to a module. Files that several of them import become a shared module, so that a connection pool declared in one place
 * exists once in a process. Packages are not bundled: they are resolved from the project, so builds must be inside it.
 */
export async function build(project: Project, buildsDir: string): Promise<Build> {
  const { entries, outputs, inputs, problems } = await compileServing(project, buildsDir);
  const digest = createHash('sha256').update(JSON.stringify(project.defaults));
  for (const { path, contents } of outputs) digest.update(`\0${path}\0${contents.length}\0`).update(contents);
  const hash = digest.digest('hex').slice(0, 32);
  const dir = join(buildsDir, hash);
  await store(dir, outputs);
  const refused = await refusedUses(
    project,
    inputs.map((path) => slashes(relative(project.dir, path))),
  );
  return { hash, dir, entries, inputs, problems: [...problems, ...refused] };
}

export interface Output {
  /** Relative to the build. */
  readonly path: string;
  readonly contents: Uint8Array;
}

interface Compiled {
  readonly entries: readonly Entry[];
  readonly outputs: readonly Output[];
  readonly inputs: readonly string[];
  readonly problems: readonly Problem[];
}

/** Compiles all files that can be compiled. */
async function compileServing(project: Project, buildsDir: string): Promise<Compiled> {
  try {
    return await compile(project, buildsDir, project.taskFiles);
  } catch (failure) {
    if (!isBuildFailure(failure)) throw failure;
  }
  const failures = new Map<string, Problem>();
  const failedFiles = new Set<string>();
  const good: string[] = [];
  await Promise.all(
    project.taskFiles.map(async (file) => {
      try {
        await compile(project, buildsDir, [file]);
        good.push(file);
      } catch (failure) {
        if (!isBuildFailure(failure)) throw failure;
        failedFiles.add(join(project.dir, file));
        for (const message of failure.errors) {
          const problem = problemOf(message, file, project.dir);
          failures.set(JSON.stringify(problem), problem);
          failedFiles.add(join(project.dir, problem.file));
        }
      }
    }),
  );
  const compiled = await compile(project, buildsDir, good.toSorted());
  return { ...compiled, inputs: [...compiled.inputs, ...failedFiles], problems: [...failures.values()] };
}

async function compile(project: Project, buildsDir: string, files: readonly string[]): Promise<Compiled> {
  if (files.length === 0) return { entries: [], outputs: [], inputs: [], problems: [] };
  // A placeholder for the hash, which is known only after the build. Source maps depend only on the depth of the folder.
  const outdir = join(buildsDir, 'new');
  const options = {
    ...moduleOptions(project),
    entryPoints: files.map((file) => ({ in: join(project.dir, file), out: outputOf(file) })),
    outdir,
    target: 'node20',
    plugins: [
      ...(await publishedPlugins(project, 'dev')),
      requiredPackages,
      workspacePackages(project.dir),
      localModules({
        projectDir: project.dir,
        optionsOf: compilerOptions(tsconfigOf(project)),
        pathBelowRoot: (file) => slashes(relative(project.dir, file)),
      }),
    ],
  } satisfies BuildOptions;
  const { outputFiles, metafile } = await withEsbuild((esbuild) => esbuild.build(options));
  return {
    entries: entriesOf(files),
    outputs: outputFiles.map((file: OutputFile) => ({
      path: inBuild(file.path, outdir),
      contents: withRoot(file.contents, file.path, project.dir),
    })),
    inputs: filesOf(metafile).map((path) => join(project.dir, path)),
    problems: [],
  };
}
