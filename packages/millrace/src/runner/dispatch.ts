import { availableParallelism } from 'node:os';
import { machineMemory } from '@millrace/contract/runner';
import type { Assignment, LogLine, MachinePreset, Outcome, Settlement } from '@millrace/contract/runner';
import type { ServedTask } from '../bundle/versions-file.ts';
import type { Death } from '../executor/spawn.ts';
import type { FromExecutor } from '../executor/messages.ts';
import { newAttempt } from './attempt.ts';
import type { Attempt } from './attempt.ts';
import { crashed, crashError } from './crash.ts';
import type { Executor } from './executor.ts';
import { checkHealth, evict, overdue } from './limits.ts';
import type { Limits } from './limits.ts';
import type { AttemptEnd } from './options.ts';
import { Pool } from './pool.ts';
import type { ExecutorSurroundings, PoolOptions } from './pool.ts';

export interface DispatchOptions extends Omit<PoolOptions, 'events'>, Limits {
  /** Attempts that execute at once. */
  readonly concurrency: number;
  readonly settle: (settlement: Settlement) => void;
  readonly log: (lines: readonly LogLine[]) => void;
  readonly onAttemptEnd?: ((end: AttemptEnd) => void) | undefined;
  readonly onOutput: (stream: 'stdout' | 'stderr', text: string) => void;
}

/** How many processes at once look for the attempt that killed the one it shared. */
const suspectsAtOnce = Math.max(2, Math.min(4, availableParallelism()));
/** After so many processes that died before they could start it, an attempt fails. */
const startsAtMost = 3;

/** Holds the attempts of this runner and puts them into executor processes. */
export class Dispatch {
  readonly #options: DispatchOptions;
  readonly #pool: Pool;
  readonly #attempts = new Map<number, Attempt>();
  // Attempts that wait, by the kind of process they wait for.
  #shared: Attempt[] = [];
  #isolated: Attempt[] = [];
  #suspects: Attempt[] = [];
  /** How many attempts are in processes. */
  #busy = 0;
  #onEmpty: (() => void) | undefined;
  /** Attempts settled, ever. */
  finished = 0;

  constructor(options: DispatchOptions) {
    this.#options = options;
    this.#pool = new Pool({
      ...options,
      events: {
        onReady: (executor) => this.#ready(executor),
        onProgress: (executor, settlements, lines) => this.#progress(executor, settlements, lines),
        onThrownAside: (executor, message) => this.#thrownAside(executor, message),
        onExiting: (executor, message) => this.#exiting(executor, message),
        onDeath: (executor, death) => this.#died(executor, death),
        onOutput: options.onOutput,
      },
    });
  }

  /** Fences of everything held here. */
  get fences(): number[] {
    return [...this.#attempts.keys()];
  }

  get pids(): number[] {
    return [...this.#pool.executors].flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
  }

  /** Versions that attempts or processes use. */
  get versionsInUse(): Set<string> {
    const attempts = [...this.#attempts.values()].map(({ assignment }) => assignment.version);
    return new Set([...attempts, ...[...this.#pool.executors].map(({ version }) => version)]);
  }

  /** Whether anything needs to be looked after: attempts, code of attempts that are over, processes that start. */
  get hasWork(): boolean {
    if (this.#attempts.size > 0) return true;
    return [...this.#pool.executors].some(
      ({ leftovers, ready }) =>
        !ready || [...leftovers.values()].some((until) => until !== Number.POSITIVE_INFINITY),
    );
  }

  /** Resolves when no attempt is held. */
  emptied(): Promise<void> {
    if (this.#attempts.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onEmpty = resolve;
    });
  }

  /** From now on attempts start with these; what runs keeps what it has. */
  surround(surroundings: ExecutorSurroundings): void {
    this.#pool.surround(surroundings);
  }

  /** Makes a version the one whose process is kept ready. */
  serve(version: string): void {
    this.#pool.serve(version);
  }

  assign(assignments: readonly Assignment[]): void {
    const now = performance.now();
    for (const assignment of assignments) {
      if (this.#attempts.has(assignment.fence)) continue;
      const attempt = newAttempt(assignment, now);
      this.#attempts.set(assignment.fence, attempt);
      const task = this.#taskOf(attempt);
      if (!task) this.#settle(attempt, { kind: 'unknownTask' });
      else if (wantsToBeAlone(attempt, task)) this.#isolated.push(attempt);
      else this.#shared.push(attempt);
    }
    this.#pump();
  }

  cancel(fences: readonly number[]): void {
    for (const fence of fences) {
      const attempt = this.#attempts.get(fence);
      if (!attempt || attempt.canceledAt !== null) continue;
      attempt.canceledAt = performance.now();
      if (attempt.executor) attempt.executor.cancel([fence]);
      else this.#settle(attempt, { kind: 'canceled' });
    }
  }

  /** Stops attempts that are no longer this runner's, and says nothing more about them. */
  drop(fences: readonly number[]): void {
    for (const fence of fences) {
      const attempt = this.#attempts.get(fence);
      if (!attempt) continue;
      attempt.executor?.cancel([fence]);
      this.#forget(attempt, performance.now() + this.#options.graceMs);
    }
    this.#pump();
  }

  /** Gives back what has waited here for so many milliseconds without any of its code having run. */
  giveBack(waited: number): void {
    const now = performance.now();
    const isOld = ({ touched, receivedAt }: Attempt, least: number): boolean =>
      !touched && now - receivedAt >= least;
    const back = [
      ...this.#shared.filter((attempt) => isOld(attempt, waited)),
      // Where no other runner is, these come back at once, to wait again for memory: not every second.
      ...this.#isolated.filter((attempt) => isOld(attempt, waited * 10)),
    ];
    for (const attempt of back) this.#settle(attempt, { kind: 'released' });
  }

  /** Whether an attempt that could be given back has waited for so many milliseconds. */
  hasWaited(milliseconds: number): boolean {
    const first = this.#shared.find(({ touched }) => !touched);
    return first !== undefined && performance.now() - first.receivedAt >= milliseconds;
  }

  /** Looks after limits of time. To be called every `tickMs`. */
  tick(): void {
    const now = performance.now();
    for (const attempt of this.#attempts.values()) {
      const { executor, assignment } = attempt;
      const seconds = assignment.maxDuration ?? this.#taskOf(attempt)?.maxDuration ?? null;
      const outcome = overdue(attempt, seconds, this.#options.graceMs, now);
      if (!outcome || !executor) continue;
      this.#settle(attempt, outcome, now);
      evict(executor, this.#options, now);
    }
    for (const executor of this.#pool.executors) checkHealth(executor, this.#options, now);
    this.#pump();
  }

  /** Ends all processes, whatever runs in them; resolves when they are gone. */
  close(): Promise<void> {
    return this.#pool.close();
  }

  #taskOf({ assignment }: Attempt): ServedTask | undefined {
    return this.#options.build(assignment.version)?.tasks[assignment.task];
  }

  #pump(): void {
    if (!this.#pool.isOpen) return;
    const { concurrency } = this.#options;
    while (this.#suspects.length > 0 && this.#pool.busy('suspect') < suspectsAtOnce) {
      this.#runAlone(this.#suspects.shift(), 'suspect');
    }
    while (
      this.#isolated.length > 0 &&
      this.#busy < concurrency &&
      this.#pool.hasMemoryFor(this.#machineOf(this.#isolated[0]))
    ) {
      this.#runAlone(this.#isolated.shift(), 'isolated');
    }
    const batches = new Map<Executor, Attempt[]>();
    for (const attempt of this.#shared.splice(0, Math.max(0, concurrency - this.#busy))) {
      const executor = this.#pool.shared(attempt.assignment.version);
      if (!this.#enter(attempt, executor)) continue;
      const batch = batches.get(executor);
      if (batch) batch.push(attempt);
      else batches.set(executor, [attempt]);
    }
    for (const [executor, attempts] of batches) executor.run(attempts);
  }

  #runAlone(attempt: Attempt | undefined, purpose: 'suspect' | 'isolated'): void {
    if (!attempt) return;
    const { version, task } = attempt.assignment;
    const executor = this.#pool.alone(version, task, purpose, this.#machineOf(attempt));
    if (this.#enter(attempt, executor)) executor.run([attempt]);
  }

  #machineOf(attempt: Attempt | undefined): MachinePreset | null {
    const task = attempt && this.#taskOf(attempt);
    return attempt && task ? machineOf(attempt, task) : null;
  }

  #enter(attempt: Attempt, executor: Executor | undefined): executor is Executor {
    if (!executor) {
      this.#settle(attempt, { kind: 'unknownTask' });
      return false;
    }
    attempt.executor = executor;
    attempt.variablesRevision = this.#pool.variablesRevision;
    attempt.startedAt = executor.ready ? performance.now() : null;
    attempt.touched = true;
    executor.running.set(attempt.assignment.fence, attempt);
    this.#busy += 1;
    return true;
  }

  /** With `leftoverUntil` its code may go on until then, if it is in a process. */
  #settle(attempt: Attempt, outcome: Outcome, leftoverUntil?: number): void {
    const { run, fence, task, attempt: number } = attempt.assignment;
    this.#forget(attempt, leftoverUntil);
    this.finished += 1;
    const { variablesRevision: revision } = attempt;
    this.#options.settle({ run, fence, outcome, ...(revision !== undefined && { revision }) });
    if (!this.#options.onAttemptEnd || outcome.kind === 'released') return;
    const took = attempt.startedAt === null ? 0 : performance.now() - attempt.startedAt;
    this.#options.onAttemptEnd({ run, task, attempt: number, outcome, took });
  }

  #forget(attempt: Attempt, leftoverUntil?: number): void {
    const { fence } = attempt.assignment;
    const { executor } = attempt;
    this.#attempts.delete(fence);
    if (this.#attempts.size === 0) this.#onEmpty?.();
    if (!executor) {
      const others = (waiting: Attempt[]): Attempt[] => waiting.filter((other) => other !== attempt);
      if (this.#shared.length > 0) this.#shared = others(this.#shared);
      if (this.#isolated.length > 0) this.#isolated = others(this.#isolated);
      if (this.#suspects.length > 0) this.#suspects = others(this.#suspects);
      return;
    }
    attempt.executor = null;
    executor.running.delete(fence);
    this.#busy -= 1;
    if (leftoverUntil !== undefined) executor.leftovers.set(fence, leftoverUntil);
    this.#pool.endIfDone(executor);
  }

  #ready(executor: Executor): void {
    const now = performance.now();
    for (const attempt of executor.running.values()) attempt.startedAt = now;
  }

  #progress(executor: Executor, settlements: readonly Settlement[], lines: readonly LogLine[]): void {
    if (lines.length > 0) this.#options.log(lines);
    for (const { fence, outcome } of settlements) {
      const attempt = executor.running.get(fence);
      if (attempt) this.#settle(attempt, outcome);
      else if (executor.leftovers.delete(fence)) this.#pool.endIfDone(executor);
    }
    this.#pump();
  }

  #thrownAside(
    executor: Executor,
    { settlement, torn, error }: Extract<FromExecutor, { type: 'thrownAside' }>,
  ): void {
    const attempt = settlement && executor.running.get(settlement.fence);
    if (torn) executor.retiring = true;
    // Its promise may never settle now; that alone is no reason to kill what else is in the process.
    if (attempt) this.#settle(attempt, settlement.outcome, Number.POSITIVE_INFINITY);
    else {
      const what = error.stackTrace || `${error.name}: ${error.message}`;
      this.#options.onOutput('stderr', `Thrown outside of any run: ${what}\n`);
    }
    this.#pool.endIfDone(executor);
    this.#pool.warm();
    this.#pump();
  }

  #exiting(executor: Executor, { fence, error }: Extract<FromExecutor, { type: 'exiting' }>): void {
    executor.retiring = true;
    if (fence === null) return;
    executor.culpritKnown = true;
    const attempt = executor.running.get(fence);
    if (attempt) this.#settle(attempt, crashed(error));
  }

  /** What was in it is settled if it is to blame or was asked to stop, suspected if nobody knows, and otherwise runs again. */
  #died(executor: Executor, death: Death): void {
    this.#pool.remove(executor);
    // Closed: what ran in it runs elsewhere, once the server notices.
    if (!this.#pool.isOpen) return;
    const attempts = [...executor.running.values()];
    executor.running.clear();
    this.#busy -= attempts.length;
    const { ready, purpose, culpritKnown } = executor;
    for (const attempt of attempts.toReversed()) {
      attempt.executor = null;
      attempt.startedAt = null;
      if (!ready) attempt.failedStarts += 1;
      const isToBlame = ready ? purpose !== 'shared' && !culpritKnown : attempt.failedStarts >= startsAtMost;
      if (attempt.canceledAt !== null) this.#settle(attempt, { kind: 'canceled' });
      else if (isToBlame) this.#settle(attempt, crashed(crashError({ ...factsOf(executor), death })));
      else {
        attempt.suspect ||= ready && !culpritKnown;
        this.#again(attempt);
      }
    }
    if (ready && purpose === 'shared') this.#pool.warm();
    this.#pump();
  }

  /** Before everything that has not begun. */
  #again(attempt: Attempt): void {
    const task = this.#taskOf(attempt);
    if (attempt.suspect) this.#suspects.unshift(attempt);
    else if (task && wantsToBeAlone(attempt, task)) this.#isolated.unshift(attempt);
    else this.#shared.unshift(attempt);
  }
}

const factsOf = ({ killedFor, ready, memory }: Executor) => ({ killedFor, ready, memory });

/** The machine that a run asks for: its own, or its task's. */
function machineOf({ assignment: { machine } }: Attempt, task: ServedTask): MachinePreset | null {
  return machine !== null && Object.hasOwn(machineMemory, machine)
    ? (machine as MachinePreset)
    : task.machine;
}

const wantsToBeAlone = (attempt: Attempt, task: ServedTask): boolean =>
  task.isolated || machineOf(attempt, task) !== null;
