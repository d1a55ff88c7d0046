import { join } from 'node:path';
import type { FolderOptions, ServedBuild, ServedFolder } from '@millrace/runner';
import { ProjectError } from '@millrace/diagnostics';
import { pruneBuilds } from '../bundle/prune.ts';
import { keepVersions, versionsOnDisk } from '../bundle/versions-file.ts';
import { loadProject } from '../project/load.ts';
import { deploy } from './deploy.ts';
import { startWatcher, type Watcher } from './watch.ts';

export interface FolderVersionsOptions extends FolderOptions {
  readonly projectDir: string;
  readonly buildsDir: string;
  /** Register nothing if the project has a problem. Otherwise the valid parts are registered. */
  readonly isStrict: boolean;
  /** Rebuild whenever a file changes. */
  readonly watch: boolean;
}

/** The versions of a project folder. Builds new ones, one at a time. */
export class FolderVersions implements ServedFolder {
  readonly #options: FolderVersionsOptions;
  #builds = new Map<string, ServedBuild>();
  /** The environment and project of the version names. */
  #environment = '';
  #watcher: Watcher | undefined;
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

  async start(environment: string): Promise<void> {
    const { buildsDir, watch } = this.#options;
    this.#environment = environment;
    this.#builds = await versionsOnDisk(buildsDir, environment);
    if (watch) this.#watcher = await startWatcher(() => void this.redeploy());
    await this.deploy();
  }

  async close(): Promise<void> {
    await this.#watcher?.close();
  }

  /** Builds a version of the current project. A call during a build starts another one after it and returns immediately. */
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

  /** Builds after a change. A broken project is reported, and the last version continues to be served. */
  async redeploy(): Promise<void> {
    try {
      await this.deploy();
    } catch (error) {
      const problem = { file: this.#options.projectDir, line: null, column: null, message: String(error) };
      this.hadProblems = true;
      this.#options.events.onProblem?.(error instanceof ProjectError ? error.problem : problem);
      const still = this.names.at(-1);
      if (still !== undefined) this.#options.events.onStillServed?.(still);
    }
  }

  async #deployOnce(): Promise<void> {
    const { projectDir, buildsDir, events, onRegistered, inUse } = this.#options;
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
    await this.#watcher?.watch([...project.taskDirs, join(projectDir, 'millrace.config.ts'), ...inputs]);
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
