import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { RegisteredVersion, TaskManifest } from '@millrace/contract/runner';
import {
  credentialHeaders,
  importOrder,
  type ProcessEnvironment,
  sdkVersion,
  type ServedBuild,
  type SpawnOptions,
} from '@millrace/runner';
import { type Problem, ProjectError, ProjectRefused } from '@millrace/diagnostics';
import { build } from '../bundle/build.ts';
import { indexTasks } from '../bundle/index-tasks.ts';
import { servedTasks } from '../bundle/served-tasks.ts';
import { withOwners } from '../owners/of-tasks.ts';
import type { Project } from '../project/load.ts';

export interface DeployOptions {
  readonly url: string;
  readonly secretKey: string;
  /** A branch of the key's environment. */
  readonly branch?: string | undefined;
  readonly buildsDir: string;
  /** The `process.env` of task files when they are imported. */
  readonly env: ProcessEnvironment;
  readonly ids: SpawnOptions['ids'];
  /** Throws a ProjectRefused for a project with problems. */
  readonly isStrict: boolean;
}

/** A build that is registered as a version. */
export interface Deployed {
  readonly version: string;
  readonly isNew: boolean;
  readonly isCurrent: boolean;
  readonly build: ServedBuild;
  readonly tasks: readonly TaskManifest[];
  readonly problems: readonly Problem[];
  /** Absolute paths of its local files. */
  readonly inputs: readonly string[];
}

/** Builds a project, finds its tasks and registers them. */
export async function deploy(project: Project, options: DeployOptions): Promise<Deployed> {
  const built = await build(project, options.buildsDir);
  const index = await indexTasks(built, {
    projectDir: project.dir,
    env: options.env,
    ids: options.ids,
    defaults: project.defaults,
  });
  const { problems, defaults } = index;
  const { tasks, file: ownersFile } = await withOwners(project.dir, index.tasks);
  if (options.isStrict) refuseProblems(tasks.length, problems);
  const manifests = tasks.map(({ manifest }) => manifest);
  // The hash includes the declarations and the preloads, so a declaration that depends on a variable also creates another version.
  const declared = JSON.stringify([manifests, defaults.preloads]);
  const contentHash = createHash('sha256').update(built.hash).update(declared).digest('hex');
  const { version, isNew, isCurrent } = await register(options, {
    contentHash,
    tasks: manifests,
    sdkVersion: sdkVersion(project.dir),
  });
  const { hash, dir, inputs } = built;
  // Executors do not import files without tasks or files that failed to import.
  const entries = importOrder(
    built.entries,
    defaults,
    tasks.map(({ source }) => source),
  );
  return {
    version,
    isNew,
    isCurrent,
    build: { hash, dir, entries, tasks: servedTasks(tasks), defaults },
    tasks: manifests,
    problems,
    inputs: [...inputs, ...configFilesOf(project), ...(ownersFile === undefined ? [] : [ownersFile])],
  };
}

const configFilesOf = ({ dir, configFile, published }: Project): string[] =>
  [...new Set([configFile, published?.file ?? null])].flatMap((file) =>
    file === null ? [] : [join(dir, file)],
  );

function refuseProblems(tasks: number, problems: readonly Problem[]): void {
  const none = { file: '.', line: null, column: null, message: 'no task file exports a task: export one' };
  if (problems.length > 0) throw new ProjectRefused(problems);
  if (tasks === 0) throw new ProjectRefused([none]);
}

async function register(
  { url, ...credentials }: DeployOptions,
  version: {
    readonly contentHash: string;
    readonly tasks: readonly TaskManifest[];
    readonly sdkVersion?: string;
  },
): Promise<RegisteredVersion> {
  const response = await fetch(`${url.replace(/\/+$/, '')}/runner/v1/versions`, {
    method: 'POST',
    headers: { ...credentialHeaders(credentials), 'content-type': 'application/json' },
    body: JSON.stringify(version),
    signal: AbortSignal.timeout(30_000),
  });
  const text = await response.text();
  if (!response.ok) throw refusalOf(response.status, text, version.tasks);
  return JSON.parse(text) as RegisteredVersion;
}

/** Turns the server's rejection of a version into an error. An invalid task declaration is a ProjectError. */
function refusalOf(status: number, text: string, tasks: readonly TaskManifest[]): Error {
  const { error = text.slice(0, 2_000), details } = bodyOf(text);
  if (status !== 400 && status !== 422) {
    return new Error(`The server did not register this version (${status}): ${error}`);
  }
  const path = details?.[0]?.path ?? [];
  const task =
    path[0] === 'tasks' ? tasks[Number(path[1])] : tasks.find(({ filePath }) => error.includes(filePath));
  const whose = path[0] === 'tasks' && task ? `task "${task.id}": ` : '';
  return new ProjectError({
    file: task?.filePath ?? 'tasks',
    line: null,
    column: null,
    message: whose + error,
  });
}

interface Refusal {
  readonly error?: string;
  readonly details?: readonly { readonly path?: readonly string[] }[];
}

function bodyOf(text: string): Refusal {
  try {
    const { error, details } = JSON.parse(text) as Refusal;
    return { ...(typeof error === 'string' && { error }), ...(Array.isArray(details) && { details }) };
  } catch {
    return {};
  }
}
