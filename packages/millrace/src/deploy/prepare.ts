import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Bundle, TaskManifest } from '@millrace/contract/runner';
import semver from 'semver';
import { buildDeployment, type DeploymentBuild } from '../bundle/build-deployment.ts';
import type { Output } from '../bundle/build.ts';
import { importOrder } from '../bundle/import-order.ts';
import { indexTasks, type TaskIndex } from '../bundle/index-tasks.ts';
import { readManifest } from '../bundle/package-folder.ts';
import { pruneBuilds } from '../bundle/prune.ts';
import { servedTasks } from '../bundle/served-tasks.ts';
import { store } from '../bundle/store.ts';
import type { ProcessEnvironment } from '../executor/messages.ts';
import { sdkVersion } from '../executor/sdk.ts';
import type { Project } from '../project/load.ts';
import { ProjectError, ProjectRefused } from '../project/problem.ts';
import { copiedFiles } from './copied-files.ts';
import { LayerRefused } from './layer-plan.ts';
import { buildLayers, type Layer, type Layers } from './layers.ts';
import { runHooks } from './hooks.ts';
import { publishedAdditions } from './published-extensions.ts';
import type { ExtensionTarget, SyncedVariables } from '../published/project/extensions.ts';
import { findSecrets, type SecretValue } from './secret-values.ts';

/** What is uploaded under the digest of its compressed content. */
export interface Blob {
  readonly blob: string;
  readonly size: number;
  /** From this byte on. */
  readonly read: (offset: number) => ReadableStream<Uint8Array>;
}

/** A project that is ready to be deployed. */
export interface Prepared {
  readonly bundle: Bundle;
  readonly tasks: readonly TaskManifest[];
  readonly sdkVersion: string | undefined;
  /** Variables that the deployment sets in its environment. */
  readonly variables: readonly SyncedVariables[];
  /** By digest. */
  readonly blobs: ReadonlyMap<string, Blob>;
  readonly layers: readonly Layer[];
  readonly bytesByPackage: ReadonlyMap<string, number>;
  /** Packages whose install script was not executed, although nothing says that it is not needed. */
  readonly withoutScript: readonly string[];
}

/** What is known of the environment that is deployed to. */
export interface DeployedTo {
  /** What task files see in `process.env` when they are imported. */
  readonly env: ProcessEnvironment;
  /** Values that must not be in the bundle. */
  readonly secrets: readonly SecretValue[];
  /** For extensions of the published SDK. */
  readonly at?: Omit<ExtensionTarget, 'env'>;
}

export interface PrepareOptions {
  /** Called once the project has been bundled, so that a project that cannot be has no effect. */
  readonly environment: () => Promise<DeployedTo>;
  /** A step begins: for a person who waits. */
  readonly onStep?: (step: string) => void;
  /** Ends commands that are under way. */
  readonly signal?: AbortSignal;
}

/** Builds a project for deployment. Throws ProjectRefused or a ProjectError; nothing is sent. */
export async function prepare(given: Project, options: PrepareOptions): Promise<Prepared> {
  const { onStep = () => {}, signal } = options;
  const nodeMajor = nodeMajorOf(given);
  await runHooks(given, onStep, signal);
  let known: Promise<DeployedTo> | undefined;
  const environment = (): Promise<DeployedTo> => (known ??= options.environment());
  const {
    project,
    files: added,
    variables,
  } = await publishedAdditions(given, async () => {
    const { env, at } = await environment();
    return { projectRef: '', environment: 'prod', branch: undefined, ...at, env: env.added };
  });
  onStep('the task files to be bundled');
  const build = await buildDeployment(project, nodeMajor);
  if (build.problems.length > 0) throw new ProjectRefused(build.problems, 'uploaded');
  const outputs = merged(build.outputs, [...(await copiedFiles(project)), ...added]);
  const { env: before, secrets } = await environment();
  const env = withVariables(before, variables);
  const leaks = findSecrets(outputs, secrets);
  if (leaks.length > 0) throw new ProjectRefused(leaks, 'uploaded');
  onStep('the tasks to be found');
  const { tasks, defaults } = await tasksOf(project, build, outputs, env);
  const { layers, withoutScript } = await layersOf(project, build, onStep, signal);
  onStep('the files to be compressed');
  const blobs = new Map<string, Blob>();
  const files: Bundle['files'] = [];
  for (const { path, contents } of outputs) {
    const compressed = await promisify(gzip)(contents);
    const blob = sha256(compressed);
    blobs.set(blob, {
      blob,
      size: compressed.length,
      read: (offset) => bytes(compressed.subarray(offset)),
    });
    files.push({ path, digest: sha256(contents), size: contents.length, blob, blobSize: compressed.length });
  }
  for (const { blob, blobSize, file } of layers)
    blobs.set(blob, {
      blob,
      size: blobSize,
      read: (offset) =>
        Readable.toWeb(createReadStream(file, { start: offset })) as ReadableStream<Uint8Array>,
    });
  const requires = [...new Set(tasks.flatMap(({ manifest }) => manifest.requires ?? []))].toSorted();
  if (requires.length > maxLabels)
    throw new ProjectError({
      file: project.configFile ?? 'tasks',
      line: null,
      column: null,
      message: `its tasks require ${requires.length} labels (${requires.join(', ')}), and a version may require ${maxLabels}`,
    });
  const entries = importOrder(
    build.entries,
    defaults,
    tasks.map(({ source }) => source),
  );
  return {
    bundle: {
      entries,
      sdk: build.sdk,
      defaults,
      tasks: servedTasks(tasks),
      files,
      layers: layers.map(({ platform, digest, size, blob, blobSize }) => ({
        platform,
        digest,
        size,
        blob,
        blobSize,
      })),
      nodeMajor,
      requires,
    },
    tasks: tasks.map(({ manifest }) => manifest),
    variables,
    sdkVersion: sdkVersion(project.dir),
    blobs,
    layers,
    bytesByPackage: build.bytesByPackage,
    withoutScript,
  };
}

/** What task files see when the variables are set. */
function withVariables(env: ProcessEnvironment, synced: readonly SyncedVariables[]): ProcessEnvironment {
  const added = { ...env.added };
  for (const { values, parentValues, override } of synced)
    for (const [name, value] of Object.entries({ ...parentValues, ...values }))
      if (override || !(name in added)) added[name] = value;
  return { ...env, added };
}

const maxLabels = 32;
const minNodeMajor = 20;

/** What `engines.node` of the project's package.json asks for, else the Node.js of this process. */
function nodeMajorOf({ dir }: Project): number {
  const own = Number(process.versions.node.split('.')[0]);
  const declared = readManifest(dir).engines?.node;
  if (declared === undefined) return own;
  const problem = { file: 'package.json', line: null, column: null };
  if (semver.validRange(declared) === null)
    throw new ProjectError({ ...problem, message: `engines.node is not a range of versions: ${declared}` });
  const least = Math.max(minNodeMajor, semver.minVersion(declared)?.major ?? minNodeMajor);
  if (least > own)
    throw new ProjectError({
      ...problem,
      message: `the project needs Node.js ${least} (engines.node), and this is ${process.versions.node}: deploy with Node.js ${least} or later`,
    });
  return least;
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

/** Imports the modules in a process of their own, with the SDK that they contain. */
async function tasksOf(
  project: Project,
  build: DeploymentBuild,
  outputs: readonly Output[],
  env: ProcessEnvironment,
): Promise<TaskIndex> {
  const digest = createHash('sha256');
  for (const { path, contents } of outputs) digest.update(`\0${path}\0${contents.length}\0`).update(contents);
  const hash = digest.digest('hex').slice(0, 32);
  // In the project, so that packages outside of the modules are found in its node_modules.
  const dir = join(project.dir, '.millrace', 'deploy', hash);
  await store(dir, outputs);
  await pruneBuilds(join(dir, '..'), new Set([hash]));
  const index = await indexTasks(
    { ...build, hash, dir, inputs: [] },
    { projectDir: dir, sdk: join(dir, build.sdk), env, defaults: project.defaults },
  );
  if (index.problems.length > 0) throw new ProjectRefused(index.problems, 'uploaded');
  if (index.tasks.length === 0)
    throw new ProjectError({
      file: project.configFile ?? 'tasks',
      line: null,
      column: null,
      message: 'the project has no task: export one from a file in its task folders',
    });
  return index;
}

async function layersOf(
  project: Project,
  { externals }: DeploymentBuild,
  onStep: (step: string) => void,
  signal: AbortSignal | undefined,
): Promise<Layers> {
  try {
    const onInstall = (platform: string): void =>
      onStep(`npm to install the packages of the layer for ${platform}`);
    return await buildLayers(project, externals, { onInstall, signal });
  } catch (error) {
    if (!(error instanceof LayerRefused)) throw error;
    throw new ProjectError({ file: 'package.json', line: null, column: null, message: error.message });
  }
}

const sha256 = (contents: Uint8Array): string => createHash('sha256').update(contents).digest('hex');

const bytes = (contents: Uint8Array): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start(controller) {
      if (contents.length > 0) controller.enqueue(contents);
      controller.close();
    },
  });
