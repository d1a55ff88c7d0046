import { totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { machineMemory } from '@millrace/contract/runner';
import type { EnvironmentInfo } from '@millrace/contract/runner';
import { importOrder } from '../executor/import-order.ts';
import type { ServedBuild } from './served-build.ts';
import type { ProcessEnvironment } from '../executor/messages.ts';
import type { SpawnOptions } from '../executor/spawn.ts';
import { machineOf } from './attempt.ts';
import type { Attempt } from './executor.ts';
import { Executor } from './executor.ts';
import type { ExecutorEvents, Purpose } from './executor.ts';
import type { Guard } from './guard.ts';

export interface PoolOptions {
  /** The working folder of processes with code of the folder. */
  readonly projectDir: string;
  /** The operating system user of the processes. */
  readonly ids: SpawnOptions['ids'];
  /** Number of shared processes per version. */
  readonly executors: number;
  /** Heap size of a shared process in MiB. */
  readonly executorMemory: number | undefined;
  readonly build: (version: string) => ServedBuild | undefined;
  /** Whether the files of a version are unchanged since it was loaded. Undefined for versions of a folder, which people edit. */
  readonly intact?: ((version: string) => Promise<boolean> | undefined) | undefined;
  readonly events: ExecutorEvents;
  readonly guard: Guard;
}

/** The environment of executors. */
export interface ExecutorEnvironment {
  readonly env: ProcessEnvironment;
  /** Changes when `env` does. */
  readonly revision: string;
  /** The revision of the environment's variables in it; undefined before the first. */
  readonly variablesRevision: number | undefined;
  readonly environment: EnvironmentInfo;
}

/** How long an idle process is kept if its version need not be ready or its variables are outdated, in milliseconds. */
const surplusMs = 10_000;
/** Maximum number of such idle processes, because a runner may serve many versions and each process takes 60 MB. */
const maxSurplus = 8;
/** How long idle processes have to exit when the pool closes, in milliseconds. */
const endMs = 1_000;
/** Memory in MiB that an isolated run counts as if its task does not name a machine. */
export const unnamedMachine = 512;

/** The executor processes of a runner: shared ones for each version, and those for one run. */
export class Pool {
  readonly #options: PoolOptions;
  readonly #executors = new Set<Executor>();
  #executorEnvironment: ExecutorEnvironment | undefined;
  #warmVersions: ReadonlySet<string> = new Set();
  /** Idle processes that may end, longest idle first. */
  readonly #surplus = new Set<Executor>();
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  get executors(): ReadonlySet<Executor> {
    return this.#executors;
  }

  get pids(): number[] {
    return [...this.#executors].flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
  }

  /** Whether processes are starting, or code of completed attempts still runs. */
  get hasWork(): boolean {
    return [...this.#executors].some(
      ({ leftovers, ready }) =>
        !ready || [...leftovers.values()].some((until) => until !== Number.POSITIVE_INFINITY),
    );
  }

  /** Whether it may start processes: it has an environment and is not closed. */
  get isOpen(): boolean {
    return this.#executorEnvironment !== undefined && !this.#closed;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** The revision of the variables in new processes. */
  get variablesRevision(): number | undefined {
    return this.#executorEnvironment?.variablesRevision;
  }

  /** Sets the environment of new processes. Existing ones finish their attempts and then end. */
  setEnvironment(executorEnvironment: ExecutorEnvironment): void {
    const changed = this.#executorEnvironment?.revision !== executorEnvironment.revision;
    this.#executorEnvironment = executorEnvironment;
    if (changed) this.warm();
  }

  /** Sets the versions for which a process is kept ready. */
  keep(versions: readonly string[]): void {
    this.#warmVersions = new Set(versions);
    this.warm();
  }

  warm(): void {
    if (!this.isOpen) return;
    for (const version of this.#warmVersions) this.shared(version);
    for (const executor of this.#executors) this.#endIfSurplus(executor);
  }

  /** The shared process of a version; undefined if the version is not available here. */
  shared(version: string): Executor | undefined {
    let idlest: Executor | undefined;
    let count = 0;
    for (const executor of this.#executors) {
      if (!this.#takes(executor, version)) continue;
      count += 1;
      if (!idlest || executor.running.size < idlest.running.size) idlest = executor;
    }
    if (idlest && (idlest.running.size === 0 || count >= this.#options.executors)) {
      this.#surplus.delete(idlest);
      return idlest;
    }
    const build = this.#options.build(version);
    return build && this.#start(build, version, 'shared', this.#options.executorMemory);
  }

  /** A new process for one attempt; undefined if its version is not available here. */
  alone(attempt: Attempt, purpose: Exclude<Purpose, 'shared'>): Executor | undefined {
    const { version, task } = attempt.assignment;
    const build = this.#options.build(version);
    const served = build?.tasks[task];
    if (!build || !served) return undefined;
    // It imports only the file of this task.
    const entries = importOrder(build.entries, build.defaults, [served.source]);
    const machine = machineOf(attempt, served);
    const memory = machine === null ? this.#options.executorMemory : machineMemory[machine];
    return this.#start({ ...build, entries }, version, purpose, memory);
  }

  /** Isolated runs wait until there is memory for their machines, except the first. */
  hasMemoryFor(attempt: Attempt): boolean {
    const { version, task } = attempt.assignment;
    const served = this.#options.build(version)?.tasks[task];
    const machine = served ? machineOf(attempt, served) : null;
    let used = 0;
    // A suspended run may be waiting for this very run, so it does not count.
    for (const executor of this.#executors)
      if (executor.purpose === 'isolated' && executor.isBusy) used += executor.memory ?? unnamedMachine;
    const required = machine === null ? unnamedMachine : machineMemory[machine];
    return used === 0 || used + required <= totalmem() / 1_048_576;
  }

  busy(purpose: Purpose): number {
    let count = 0;
    for (const executor of this.#executors) if (executor.purpose === purpose && executor.isBusy) count += 1;
    return count;
  }

  /** Removes a process that has died. */
  remove(executor: Executor): void {
    this.#executors.delete(executor);
    this.#surplus.delete(executor);
    this.#options.guard.remove(executor.pid);
    executor.retiring = true;
  }

  /** Ends a process that is idle and accepts no more attempts. */
  endIfDone(executor: Executor): void {
    if (executor.ending || executor.running.size > 0) return;
    if (executor.purpose === 'shared' && !executor.retiring) return this.#endIfSurplus(executor);
    const now = performance.now();
    const waits = [...executor.leftovers.values()].some(
      (until) => until > now && until !== Number.POSITIVE_INFINITY,
    );
    if (!waits) executor.end();
  }

  /** Ends all processes; resolves when they have ended. */
  async close(): Promise<void> {
    this.#closed = true;
    const executors = [...this.#executors];
    for (const executor of executors) {
      if (executor.running.size > 0) executor.kill(null);
      else executor.end();
    }
    const gone = Promise.all(executors.map(({ died }) => died));
    await Promise.race([gone, sleep(endMs, undefined, { ref: false })]);
    // An idle process that did not exit.
    for (const executor of this.#executors) executor.kill(null);
    await gone;
  }

  #start(
    build: ServedBuild,
    version: string,
    purpose: Purpose,
    memory: number | undefined,
  ): Executor | undefined {
    if (!this.#executorEnvironment || this.#closed) return undefined;
    const { projectDir, ids, intact, events, guard } = this.#options;
    const { env, revision, environment } = this.#executorEnvironment;
    const { dir, entries, defaults, sdk } = build;
    const tasks = Object.fromEntries(
      Object.entries(build.tasks).map(([id, { source, filePath }]) => [id, { source, filePath }]),
    );
    const serve = { type: 'serve', env: env.added, dir, entries, tasks, defaults, environment } as const;
    const executor = new Executor({
      version,
      revision,
      purpose,
      projectDir: sdk === undefined ? projectDir : dir,
      sdk: sdk === undefined ? undefined : join(dir, sdk),
      env: env.inherited,
      ids,
      memory,
      serve,
      intact: intact?.(version),
      events,
    });
    this.#executors.add(executor);
    guard.add(executor.pid);
    return executor;
  }

  #takes({ purpose, retiring, version, revision }: Executor, requested: string): boolean {
    return (
      purpose === 'shared' &&
      !retiring &&
      version === requested &&
      revision === this.#executorEnvironment?.revision
    );
  }

  /** Ends an idle shared process after a while, if its version need not be ready or its variables are old. */
  #endIfSurplus(executor: Executor): void {
    const isSurplus = (): boolean =>
      executor.purpose === 'shared' &&
      !executor.ending &&
      executor.running.size === 0 &&
      (!this.#warmVersions.has(executor.version) ||
        executor.revision !== this.#executorEnvironment?.revision);
    if (!isSurplus()) return;
    this.#surplus.delete(executor);
    this.#surplus.add(executor);
    for (const oldest of this.#surplus) {
      if (this.#surplus.size <= maxSurplus) break;
      this.#surplus.delete(oldest);
      if (oldest.running.size === 0 && oldest.ready && !this.#warmVersions.has(oldest.version)) oldest.end();
    }
    setTimeout(() => {
      if (isSurplus()) executor.end();
    }, surplusMs).unref();
  }
}
