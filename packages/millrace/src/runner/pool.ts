import { totalmem } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { machineMemory } from '@millrace/contract/runner';
import type { EnvironmentFacts } from '@millrace/contract/runner';
import type { ServedBuild } from '../bundle/versions-file.ts';
import type { ProcessEnvironment } from '../executor/messages.ts';
import type { SpawnOptions } from '../executor/spawn.ts';
import { machineOf } from './attempt.ts';
import type { Attempt } from './executor.ts';
import { Executor } from './executor.ts';
import type { ExecutorEvents, Purpose } from './executor.ts';
import type { Guard } from './guard.ts';

export interface PoolOptions {
  readonly projectDir: string;
  /** The user that processes run as. */
  readonly ids: SpawnOptions['ids'];
  /** Shared processes of a version. */
  readonly executors: number;
  /** MiB of a shared process. */
  readonly executorMemory: number | undefined;
  readonly build: (version: string) => ServedBuild | undefined;
  readonly events: ExecutorEvents;
  readonly guard: Guard;
}

/** What executors are given. */
export interface ExecutorSurroundings {
  readonly env: ProcessEnvironment;
  /** Differs when `env` does. */
  readonly revision: string;
  /** Of the environment's variables in it, as the server counts; undefined before the first. */
  readonly variablesRevision: number | undefined;
  readonly environment: EnvironmentFacts;
}

/** Milliseconds that a process of an older version or older variables is kept for the next of its runs. */
const spareMs = 10_000;
/** Milliseconds that idle processes have to end by themselves when all are ended. */
const endMs = 1_000;
/** MiB that a run alone counts for when its task names no machine. */
export const unnamedMachine = 512;

/** The executor processes of a runner: shared ones a version, and those for one run. */
export class Pool {
  readonly #options: PoolOptions;
  readonly #executors = new Set<Executor>();
  #surroundings: ExecutorSurroundings | undefined;
  #current: string | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  get executors(): ReadonlySet<Executor> {
    return this.#executors;
  }

  get pids(): number[] {
    return [...this.#executors].flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
  }

  /** Whether processes start, or code of attempts that are over is to end in them. */
  get hasWork(): boolean {
    return [...this.#executors].some(
      ({ leftovers, ready }) =>
        !ready || [...leftovers.values()].some((until) => until !== Number.POSITIVE_INFINITY),
    );
  }

  /** Whether it may start processes: it knows with what, and was not closed. */
  get isOpen(): boolean {
    return this.#surroundings !== undefined;
  }

  /** The revision of the variables that an attempt gets which enters a process now. */
  get variablesRevision(): number | undefined {
    return this.#surroundings?.variablesRevision;
  }

  /** From now on processes start with these; those that are there serve what they have, and get no more. */
  surround(surroundings: ExecutorSurroundings): void {
    const changed = this.#surroundings?.revision !== surroundings.revision;
    this.#surroundings = surroundings;
    if (changed) this.warm();
  }

  /** Makes a version the one whose process is kept ready. */
  serve(version: string): void {
    this.#current = version;
    this.warm();
  }

  warm(): void {
    if (this.#current === undefined || !this.#surroundings) return;
    this.shared(this.#current);
    for (const executor of this.#executors) this.#endIfSpare(executor);
  }

  /** The process that a run of this version shares with others; undefined when the version cannot be executed here. */
  shared(version: string): Executor | undefined {
    let idlest: Executor | undefined;
    let count = 0;
    for (const executor of this.#executors) {
      if (!this.#takes(executor, version)) continue;
      count += 1;
      if (!idlest || executor.running.size < idlest.running.size) idlest = executor;
    }
    if (idlest && (idlest.running.size === 0 || count >= this.#options.executors)) return idlest;
    const build = this.#options.build(version);
    return build && this.#start(build, version, 'shared', this.#options.executorMemory);
  }

  /** A new process for one attempt; undefined when it cannot be executed here. */
  alone(attempt: Attempt, purpose: Exclude<Purpose, 'shared'>): Executor | undefined {
    const { version, task } = attempt.assignment;
    const build = this.#options.build(version);
    const served = build?.tasks[task];
    if (!build || !served) return undefined;
    // It imports that task's file and what it needs, not the whole project.
    const entries = build.entries.filter((entry) => entry.source === served.source);
    const machine = machineOf(attempt, served);
    const memory = machine === null ? this.#options.executorMemory : machineMemory[machine];
    return this.#start({ ...build, entries }, version, purpose, memory);
  }

  /** Runs alone are held back by the memory that their machines promise, except the first. */
  hasMemoryFor(attempt: Attempt): boolean {
    const { version, task } = attempt.assignment;
    const served = this.#options.build(version)?.tasks[task];
    const machine = served ? machineOf(attempt, served) : null;
    let used = 0;
    // One that waits may wait for just the run that this is asked for.
    for (const executor of this.#executors)
      if (executor.purpose === 'isolated' && executor.isBusy) used += executor.memory ?? unnamedMachine;
    const wanted = machine === null ? unnamedMachine : machineMemory[machine];
    return used === 0 || used + wanted <= totalmem() / 1_048_576;
  }

  busy(purpose: Purpose): number {
    let count = 0;
    for (const executor of this.#executors) if (executor.purpose === purpose && executor.isBusy) count += 1;
    return count;
  }

  /** It is dead. */
  remove(executor: Executor): void {
    this.#executors.delete(executor);
    this.#options.guard.remove(executor.pid);
    executor.retiring = true;
  }

  /** Ends a process that has nothing left to do and will get nothing more. */
  endIfDone(executor: Executor): void {
    if (executor.ending || executor.running.size > 0) return;
    if (executor.purpose === 'shared' && !executor.retiring) return this.#endIfSpare(executor);
    const now = performance.now();
    const waits = [...executor.leftovers.values()].some(
      (until) => until > now && until !== Number.POSITIVE_INFINITY,
    );
    if (!waits) executor.end();
  }

  /** Ends all processes, whatever runs in them; resolves when they are gone. */
  async close(): Promise<void> {
    this.#current = undefined;
    this.#surroundings = undefined;
    const executors = [...this.#executors];
    for (const executor of executors) {
      if (executor.running.size > 0) executor.kill(null);
      else executor.end();
    }
    const gone = Promise.all(executors.map(({ died }) => died));
    await Promise.race([gone, sleep(endMs, undefined, { ref: false })]);
    // One that has nothing to do and does not end all the same.
    for (const executor of this.#executors) executor.kill(null);
    await gone;
  }

  #start(
    build: ServedBuild,
    version: string,
    purpose: Purpose,
    memory: number | undefined,
  ): Executor | undefined {
    if (!this.#surroundings) return undefined;
    const { projectDir, ids, events, guard } = this.#options;
    const { env, revision, environment } = this.#surroundings;
    const { dir, entries, defaults } = build;
    const tasks = Object.fromEntries(Object.entries(build.tasks).map(([id, { source }]) => [id, source]));
    const serve = { type: 'serve', env: env.added, dir, entries, tasks, defaults, environment } as const;
    const executor = new Executor({
      version,
      revision,
      purpose,
      projectDir,
      env: env.inherited,
      ids,
      memory,
      serve,
      events,
    });
    this.#executors.add(executor);
    guard.add(executor.pid);
    return executor;
  }

  #takes({ purpose, retiring, version, revision }: Executor, wanted: string): boolean {
    return (
      purpose === 'shared' && !retiring && version === wanted && revision === this.#surroundings?.revision
    );
  }

  /** A shared process that new attempts will not come to goes after a while without any. */
  #endIfSpare(executor: Executor): void {
    const isSpare = (): boolean =>
      executor.purpose === 'shared' &&
      !executor.ending &&
      executor.running.size === 0 &&
      (executor.version !== this.#current || executor.revision !== this.#surroundings?.revision);
    if (!isSpare()) return;
    setTimeout(() => {
      if (isSpare()) executor.end();
    }, spareMs).unref();
  }
}
