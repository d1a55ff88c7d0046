import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Bundle, TaskManifest } from '@millrace/contract/runner';
import { importOrder, type ProcessEnvironment, sdkVersion } from '@millrace/runner';
import { ProjectError, ProjectRefused } from '@millrace/diagnostics';
import type { ExtensionTarget, SyncedVariables } from '@millrace/compat';
import type { ExternalPackage } from '../bundle/external-packages.ts';
import type { Output } from '../bundle/build.ts';
import type { NamedFile } from '../bundle/named-files.ts';
import { servedTasks } from '../bundle/served-tasks.ts';
import type { Project } from '../project/load.ts';
import { compileProject, nodeMajorOf, tasksOf, withLayerProblems } from './compile-project.ts';
import { buildLayers, type Layer } from './layers.ts';
import { runHooks } from './hooks.ts';
import { findSecrets, type SecretValue } from './secret-values.ts';

/** Content that is uploaded under the digest of its compressed form. */
export interface Blob {
  readonly blob: string;
  readonly size: number;
  /** Reads from this byte. */
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
  /** Packages that are not bundled, by name. */
  readonly externals: readonly ExternalPackage[];
  /** Messages about files that may be missing at run time. */
  readonly warnings: readonly string[];
  /** Packages whose install script was not executed, although it may be needed. */
  readonly withoutScript: readonly string[];
}

/** Information about the target environment. */
export interface DeployedTo {
  /** The `process.env` of task files when they are imported. */
  readonly env: ProcessEnvironment;
  /** Values that must not be in the bundle. */
  readonly secrets: readonly SecretValue[];
  /** For extensions of the published SDK. */
  readonly at?: Omit<ExtensionTarget, 'env'>;
}

export interface PrepareOptions {
  /** Called once the project has been bundled, so that a project that cannot be bundled has no effect. */
  readonly environment: () => Promise<DeployedTo>;
  /** Called when a step begins, for display. */
  readonly onStep?: (step: string) => void;
  /** Stops running commands. */
  readonly signal?: AbortSignal;
}

/** Builds a project for deployment. Throws ProjectRefused or a ProjectError; nothing is sent. */
export async function prepare(original: Project, options: PrepareOptions): Promise<Prepared> {
  const { onStep = () => {}, signal } = options;
  const nodeMajor = nodeMajorOf(original);
  await runHooks(original, onStep, signal);
  let known: Promise<DeployedTo> | undefined;
  const environment = (): Promise<DeployedTo> => (known ??= options.environment());
  const target = async (): Promise<ExtensionTarget> => {
    const { env, at } = await environment();
    return { projectRef: '', environment: 'prod', branch: undefined, ...at, env: env.added };
  };
  const { project, build, outputs, variables } = await compileProject(original, nodeMajor, target, onStep);
  const { env: before, secrets } = await environment();
  const env = withVariables(before, variables);
  const leaks = findSecrets(outputs, secrets);
  if (leaks.length > 0) throw new ProjectRefused(leaks, 'uploaded');
  onStep('the tasks to be found');
  const { tasks, defaults } = await tasksOf({ project, build, outputs }, env);
  const { layers, withoutScript } = await withLayerProblems(() =>
    buildLayers(project, build.externals, {
      onInstall: (platform) => onStep(`npm to install the packages of the layer for ${platform}`),
      signal,
    }),
  );
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
    externals: build.externals.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    warnings: [...build.warnings, ...missingFiles(build.namedFiles, outputs)],
    withoutScript,
  };
}

/** Files that the code refers to, such as that of a worker, and that are added only by `copyFiles`. */
function missingFiles(named: readonly NamedFile[], outputs: readonly Output[]): string[] {
  const paths = new Set(outputs.map(({ path }) => path));
  const missing = named.filter(({ path }) => !paths.has(path));
  return missing.map(
    ({ path, namedBy }) =>
      `${path} is not in the deployed version, but ${namedBy} refers to it: add it with copyFiles if it is read.`,
  );
}

/** The variables of task files, including those to be set. */
function withVariables(env: ProcessEnvironment, synced: readonly SyncedVariables[]): ProcessEnvironment {
  const added = { ...env.added };
  for (const { values, parentValues, override } of synced)
    for (const [name, value] of Object.entries({ ...parentValues, ...values }))
      if (override || !(name in added)) added[name] = value;
  return { ...env, added };
}

const maxLabels = 32;
const sha256 = (contents: Uint8Array): string => createHash('sha256').update(contents).digest('hex');

const bytes = (contents: Uint8Array): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start(controller) {
      if (contents.length > 0) controller.enqueue(contents);
      controller.close();
    },
  });
