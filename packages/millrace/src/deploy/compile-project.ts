import { createHash } from 'node:crypto';
import { mkdir, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ProjectError, ProjectRefused, readManifest } from '@millrace/diagnostics';
import type { ProcessEnvironment } from '@millrace/runner';
import { type ExtensionTarget, publishedAdditions, type SyncedVariables } from '@millrace/compat';
import semver from 'semver';
import { buildDeployment, type DeploymentBuild } from '../bundle/build-deployment.ts';
import type { Output } from '../bundle/build.ts';
import type { ExternalPackage } from '../bundle/external-packages.ts';
import { indexTasks, type TaskIndex } from '../bundle/index-tasks.ts';
import { pruneBuilds } from '../bundle/prune.ts';
import { store } from '../bundle/store.ts';
import { installedFrom } from '../bundle/whole/closure.ts';
import { withOwners } from '../owners/of-tasks.ts';
import type { Project } from '../project/load.ts';
import { copiedFiles } from './copied-files.ts';
import { LayerRefused } from './layer-refused.ts';
import { isDotenv } from './secret-values.ts';

/** A project as JavaScript modules and files, with the packages that can be bundled. */
export interface CompiledProject {
  /** Includes the packages that its extensions add. */
  readonly project: Project;
  readonly build: DeploymentBuild;
  readonly outputs: readonly Output[];
  /** Variables to set in the environment. */
  readonly variables: readonly SyncedVariables[];
}

/** Compiles a project for deployment. Throws ProjectRefused or a ProjectError. */
export async function compileProject(
  original: Project,
  nodeMajor: number,
  target: () => Promise<ExtensionTarget>,
  onStep: (step: string) => void = () => {},
): Promise<CompiledProject> {
  const { packages, files, variables } = await publishedAdditions(original, target);
  refuseDotenv(files, original);
  const project = withPackages(original, packages);
  onStep('the task files to be bundled');
  const build = await buildDeployment(project, nodeMajor);
  if (build.problems.length > 0) throw new ProjectRefused(build.problems, 'uploaded');
  const outputs = merged(build.outputs, [...(await copiedFiles(project)), ...files]);
  return { project, build, outputs, variables };
}

function refuseDotenv(files: readonly Output[], { published }: Project): void {
  const secret = files.find(({ path }) => isDotenv(path));
  if (secret)
    throw new ProjectError({
      file: published?.file ?? 'trigger.config.ts',
      line: null,
      column: null,
      message: `an extension would put ${secret.path} into the bundle: such files contain secrets`,
    });
}

function withPackages(project: Project, packages: readonly string[]): Project {
  if (packages.length === 0) return project;
  const { build } = project;
  const added = { name: 'trigger.config', packages };
  return { ...project, build: { ...build, extensions: [...build.extensions, added] } };
}

function merged(outputs: readonly Output[], copied: readonly Output[]): Output[] {
  const taken = new Set(outputs.map(({ path }) => path));
  const clash = copied.find(({ path }) => taken.has(path));
  if (clash)
    throw new ProjectError({
      file: clash.path,
      line: null,
      column: null,
      message: 'this path is taken by a bundled task file: copy the file from another folder',
    });
  return [...outputs, ...copied].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** Imports the modules in a separate process, with the SDK that they contain. */
export async function tasksOf(
  { project, build, outputs }: Omit<CompiledProject, 'variables'>,
  env: ProcessEnvironment,
): Promise<TaskIndex> {
  const digest = createHash('sha256');
  for (const { path, contents } of outputs) digest.update(`\0${path}\0${contents.length}\0`).update(contents);
  const hash = digest.digest('hex').slice(0, 32);
  // In the project, so that packages outside of the modules are found in its node_modules.
  const dir = join(project.dir, '.millrace', 'deploy', hash);
  await store(dir, outputs);
  await linkExternals(dir, project.dir, build.externals);
  await pruneBuilds(join(dir, '..'), new Set([hash]));
  const index = await indexTasks(
    { ...build, hash, dir, inputs: [] },
    { projectDir: dir, sdk: join(dir, build.sdk), env, defaults: project.defaults },
  );
  const problems = [...build.refused, ...index.problems];
  if (problems.length > 0) throw new ProjectRefused(problems, 'uploaded');
  if (index.tasks.length === 0)
    throw new ProjectError({
      file: project.configFile ?? 'tasks',
      line: null,
      column: null,
      message: 'the project has no tasks: export one from a file in its task folders',
    });
  return { ...index, tasks: (await withOwners(project.dir, index.tasks)).tasks };
}

/** Packages that are installed only for a workspace package are not found from the project, and are in the layer of a deployed version. */
async function linkExternals(
  dir: string,
  projectDir: string,
  externals: readonly ExternalPackage[],
): Promise<void> {
  for (const { name, folder } of externals) {
    if (installedFrom(projectDir, name) === folder) continue;
    const link = join(dir, 'node_modules', name);
    await mkdir(dirname(link), { recursive: true });
    await rm(link, { recursive: true, force: true });
    await symlink(folder, link, 'junction').catch((error: NodeJS.ErrnoException) => {
      // Another command in this project has created it.
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

const minNodeMajor = 20;

/** The version in `engines.node` of the project's package.json, otherwise the Node.js version of this process. */
export function nodeMajorOf({ dir }: Project): number {
  const own = Number(process.versions.node.split('.')[0]);
  const declared = readManifest(dir).engines?.node;
  if (declared === undefined) return own;
  const problem = { file: 'package.json', line: null, column: null };
  if (semver.validRange(declared) === null)
    throw new ProjectError({ ...problem, message: `engines.node is not a version range: ${declared}` });
  const least = Math.max(minNodeMajor, semver.minVersion(declared)?.major ?? minNodeMajor);
  if (least > own)
    throw new ProjectError({
      ...problem,
      message: `the project needs Node.js ${least} (engines.node), but this is ${process.versions.node}: deploy with Node.js ${least} or later`,
    });
  return least;
}

/** Converts a layer that cannot be planned to a problem in the project. */
export async function withLayerProblems<T>(work: () => Promise<T> | T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof LayerRefused)) throw error;
    throw new ProjectError({ file: 'package.json', line: null, column: null, message: error.message });
  }
}
