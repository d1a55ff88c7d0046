import { join } from 'node:path';
import { pruneBuilds } from '../bundle/prune.ts';
import { keepVersions, versionsOnDisk } from '../bundle/versions-file.ts';
import type { ServedBuild } from '../bundle/versions-file.ts';
import type { ProcessEnvironment } from '../executor/messages.ts';
import type { SpawnOptions } from '../executor/spawn.ts';
import { loadProject } from '../project/load.ts';
import { ProjectError } from '../project/problem.ts';
import { deploy } from './deploy.ts';
import type { RunnerEvents } from './options.ts';

export interface FolderVersionsOptions {
  readonly url: string;
  readonly secretKey: string;
  /** A branch of the key's environment. */
  readonly branch?: string | undefined;
  readonly projectDir: string;
  readonly buildsDir: string;
  /** Register nothing of a project with a problem. Otherwise what has none is registered. */
  readonly isStrict: boolean;
  readonly ids: SpawnOptions['ids'];
  readonly events: RunnerEvents;
  /** The current `process.env` of the task files. */
  readonly env: () => ProcessEnvironment;
  /** Versions that attempts or processes of this runner use. */
  readonly inUse: () => ReadonlySet<string>;
  readonly onRegistered: (version: string) => void;
  /** Absolute paths to watch. */
  readonly onInputs: (paths: readonly string[]) => Promise<void>;
}

/** The versions of a project folder. Builds new ones, one at a time. */
export class FolderVersions {
  readonly #options: FolderVersionsOptions;
  #builds = new Map<string, ServedBuild>();
  /** The environment and project of the version names. */
  #environment = '';
  #isDeploying = false;
  #again = false;
  hadProblems = false;

  constructor(options: FolderVersionsOptions) {
    this.#options = options;
  }

  get names(): string[] {
    return [...this.#builds.keys()];
  }

  build(version: string): ServedBuild | undefined {
    return this.#builds.get(version);
  }

  /** Loads the versions that earlier runners of this project built. */
  async load(environment: string): Promise<void> {
    this.#environment = environment;
    this.#builds = await versionsOnDisk(this.#options.buildsDir, environment);
  }

  /** Builds a version of the current project. A call during a build starts another one after it and returns at once. */
  async deploy(): Promise<void> {
    if (this.#isDeploying) {
      this.#again = true;
      return;
    }
    this.#isDeploying = true;
    try {
      await this.#deployOnce();
    } finally {
      this.#isDeploying = false;
      if (this.#again) {
        this.#again = false;
        void this.redeploy();
      }
    }
  }

  /** Builds after a change. A broken project is reported, and the last version stays in service. */
  async redeploy(): Promise<void> {
    try {
      await this.deploy();
    } catch (error) {
      const told = { file: this.#options.projectDir, line: null, column: null, message: String(error) };
      this.hadProblems = true;
      this.#options.events.onProblem?.(error instanceof ProjectError ? error.problem : told);
      const still = this.names.at(-1);
      if (still !== undefined) this.#options.events.onStillServed?.(still);
    }
  }

  async #deployOnce(): Promise<void> {
    const { projectDir, buildsDir, events, onRegistered, onInputs, inUse } = this.#options;
    const startedAt = performance.now();
    const project = await loadProject(projectDir);
    const deployed = await deploy(project, { ...this.#options, env: this.#options.env() });
    const { version, build, isNew, isCurrent, tasks, problems, inputs } = deployed;
    // The last entry of the map is the newest.
    this.#builds.delete(version);
    this.#builds.set(version, build);
    onRegistered(version);
    this.hadProblems = problems.length > 0;
    for (const problem of problems) events.onProblem?.(problem);
    events.onVersion?.({ version, isNew, isCurrent, tasks, took: Math.round(performance.now() - startedAt) });
    await onInputs([...project.taskDirs, join(projectDir, 'millrace.config.ts'), ...inputs]);
    await this.#prune(inUse());
    await keepVersions(buildsDir, this.#environment, this.#builds);
  }

  async #prune(inUse: ReadonlySet<string>): Promise<void> {
    const newest = this.names.at(-1);
    const needed = [...this.#builds].filter(([version]) => inUse.has(version) || version === newest);
    const removed = new Set(
      await pruneBuilds(this.#options.buildsDir, new Set(needed.map(([, { hash }]) => hash))),
    );
    for (const [version, { hash }] of this.#builds) if (removed.has(hash)) this.#builds.delete(version);
  }
}
