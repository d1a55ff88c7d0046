import { availableParallelism } from 'node:os';
import type { AttemptWaited, BriefAssignment, LogLine, Settlement } from '@millrace/contract/runner';
import type { ServedTask } from '../bundle/versions-file.ts';
import type { Death } from '../executor/spawn.ts';
import type { FromExecutor } from '../executor/messages.ts';
import { newAttempt } from './attempt.ts';
import type { Attempt } from './executor.ts';
import { afterDeath, crashed } from './crash.ts';
import type { Credential } from './credential.ts';
import type { Executor } from './executor.ts';
import { Held } from './held.ts';
import type { HeldOptions } from './held.ts';
import { checkHealth, evict, isHeldUp, overdue } from './limits.ts';
import type { Limits } from './limits.ts';
import { lineOf, Lines } from './lines.ts';
import { Pool } from './pool.ts';
import type { ExecutorSurroundings, PoolOptions } from './pool.ts';
import { Suspended, waitsOn } from './suspended.ts';
import type { SuspendedOptions } from './suspended.ts';

export interface DispatchOptions extends Omit<PoolOptions, 'events'>, Limits, HeldOptions, SuspendedOptions {
  /** Attempts that execute at once. */
  readonly concurrency: number;
  /** What the code of an attempt calls the API with. */
  readonly credential: (attempt: BriefAssignment) => Credential;
  readonly log: (lines: readonly LogLine[]) => void;
  readonly onOutput: (stream: 'stdout' | 'stderr', text: string) => void;
}

/** How many processes at once look for the attempt that killed the one it shared. */
const suspectsAtOnce = Math.max(2, Math.min(4, availableParallelism()));

/** Holds the attempts of this runner and puts them into executor processes. */
export class Dispatch {
  readonly #options: DispatchOptions;
  readonly #pool: Pool;
  readonly #lines = new Lines();
  readonly #held: Held;
  readonly #suspended: Suspended;

  constructor(options: DispatchOptions) {
    this.#options = options;
    this.#pool = new Pool({
      ...options,
      events: {
        onReady: (executor) => this.#ready(executor),
        onProgress: (executor, settlements, lines) => this.#progress(executor, settlements, lines),
        onWaits: (executor, attempts) => this.#suspended.begin(executor, attempts),
        onCredential: (executor, fence) => this.#credential(executor, fence),
        onThrownAside: (executor, message) => this.#thrownAside(executor, message),
        onExiting: (executor, message) => this.#exiting(executor, message),
        onDeath: (executor, death) => this.#died(executor, death),
        onOutput: options.onOutput,
      },
    });
    this.#held = new Held(this.#pool, this.#lines, options);
    this.#suspended = new Suspended(this.#held, this.#lines, options);
  }

  /** Fences of everything held here. */
  get fences(): number[] {
    return this.#held.fences;
  }

  /** Ids of the runs that are held here. */
  get runs(): string[] {
    return [...this.#held.attempts].map(({ assignment }) => assignment.run);
  }

  /** Attempts settled, ever. */
  get finished(): number {
    return this.#held.finished;
  }

  get pids(): number[] {
    return this.#pool.pids;
  }

  /** Versions that attempts or processes use. */
  get versionsInUse(): Set<string> {
    const attempts = [...this.#held.attempts].map(({ assignment }) => assignment.version);
    return new Set([...attempts, ...[...this.#pool.executors].map(({ version }) => version)]);
  }

  /** Whether anything needs to be looked after: attempts, code of attempts that are over, processes that start. */
  get hasWork(): boolean {
    return this.#held.size > 0 || this.#pool.hasWork;
  }

  /** Resolves when no attempt is held. */
  emptied(): Promise<void> {
    return this.#held.emptied();
  }

  /** From now on attempts start with these; what runs keeps what it has. */
  surround(surroundings: ExecutorSurroundings): void {
    this.#pool.surround(surroundings);
  }

  /** Makes a version the one whose process is kept ready. */
  serve(version: string): void {
    this.#pool.serve(version);
  }

  assign(assignments: readonly BriefAssignment[]): void {
    const now = performance.now();
    for (const assignment of assignments) {
      if (this.#held.get(assignment.fence)) continue;
      const attempt = newAttempt(assignment, now);
      this.#held.add(attempt);
      const task = this.#taskOf(attempt);
      if (task) this.#lines.join(lineOf(attempt, task), attempt);
      else this.#held.settle(attempt, { kind: 'unknownTask' });
    }
    this.#pump();
  }

  cancel(fences: readonly number[]): void {
    for (const fence of fences) {
      const attempt = this.#held.get(fence);
      if (!attempt || attempt.canceledAt !== null) continue;
      attempt.canceledAt = performance.now();
      if (attempt.executor) attempt.executor.cancel([fence]);
      else this.#held.settle(attempt, { kind: 'canceled' });
    }
  }

  /** Stops attempts that are no longer this runner's, and says nothing more about them. */
  drop(fences: readonly number[]): void {
    for (const fence of fences) {
      const attempt = this.#held.get(fence);
      if (!attempt) continue;
      attempt.executor?.cancel([fence]);
      this.#held.forget(attempt, performance.now() + this.#options.graceMs);
    }
    this.#pump();
  }

  /** Where attempts stand with their waits, as the server says. */
  waited(news: readonly AttemptWaited[]): void {
    for (const { fence, state, spell, keys } of news) {
      const attempt = this.#held.get(fence);
      if (!attempt) continue;
      if (state === 'stale') this.drop([fence]);
      else if (state === 'suspended') this.#suspended.suspend(attempt, spell ?? 0);
      else this.#suspended.resume(attempt, spell ?? 0, keys);
    }
    this.#pump();
  }

  /** Asks again about everything that is waited for: what was said of it may have been lost. */
  askAgain(): void {
    this.#suspended.askAgain();
  }

  /** Lets go of attempts that are suspended, now and from now on: they wait on without this process. */
  letGo(): void {
    this.#suspended.letGo();
  }

  /** Gives back what has waited here for so many milliseconds without any of its code having run. Answers the ids of these runs. */
  giveBack(waited: number): string[] {
    const untouched = this.#lines.untouched(waited);
    for (const attempt of untouched) this.#held.settle(attempt, { kind: 'released' });
    return untouched.map(({ assignment }) => assignment.run);
  }

  /** Whether an attempt that could be given back has waited for so many milliseconds. */
  hasWaited(milliseconds: number): boolean {
    return this.#lines.hasWaited(milliseconds);
  }

  /** Looks after limits of time. To be called every `tickMs`. */
  tick(): void {
    const now = performance.now();
    for (const attempt of this.#held.attempts) {
      const { executor, assignment } = attempt;
      const seconds = assignment.maxDuration ?? this.#taskOf(attempt)?.maxDuration ?? null;
      const outcome = overdue(attempt, seconds, this.#options.graceMs, now);
      // Of a process that is killed, whatever else was in it runs again.
      if (!outcome || !executor || executor.ending) continue;
      if (outcome.kind === 'failed' && isHeldUp(executor)) {
        // Alone, each shows whether it was its own doing.
        executor.kill(null);
        continue;
      }
      this.#held.settle(attempt, outcome, now);
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
    while (this.#held.busy < concurrency) {
      const attempt = this.#lines.next('returning');
      if (!attempt) break;
      this.#suspended.comeBack(attempt);
    }
    while (this.#lines.first('suspect') && this.#pool.busy('suspect') < suspectsAtOnce) {
      this.#runAlone('suspect');
    }
    while (this.#held.busy < concurrency) {
      const attempt = this.#lines.first('isolated');
      if (!attempt || !this.#pool.hasMemoryFor(attempt)) break;
      this.#runAlone('isolated');
    }
    const batches = new Map<Executor, Attempt[]>();
    for (const attempt of this.#lines.take('shared', concurrency - this.#held.busy)) {
      const executor = this.#pool.shared(attempt.assignment.version);
      if (!this.#held.enter(attempt, executor)) continue;
      const batch = batches.get(executor);
      if (batch) batch.push(attempt);
      else batches.set(executor, [attempt]);
    }
    for (const [executor, attempts] of batches) executor.run(attempts);
  }

  #runAlone(purpose: 'suspect' | 'isolated'): void {
    const attempt = this.#lines.next(purpose);
    if (!attempt) return;
    const executor = this.#pool.alone(attempt, purpose);
    if (this.#held.enter(attempt, executor)) executor.run([attempt]);
  }

  #ready(executor: Executor): void {
    const now = performance.now();
    for (const attempt of executor.running.values()) attempt.startedAt = now;
  }

  #progress(executor: Executor, settlements: readonly Settlement[], lines: readonly LogLine[]): void {
    if (lines.length > 0) this.#options.log(lines);
    for (const { fence, outcome, heard } of settlements) {
      const attempt = executor.running.get(fence);
      if (attempt) this.#held.settle(attempt, outcome, undefined, heard);
      else if (executor.leftovers.delete(fence)) this.#pool.endIfDone(executor);
    }
    this.#pump();
  }

  /** Only for what runs in that very process. */
  #credential(executor: Executor, fence: number): void {
    const attempt = executor.running.get(fence);
    executor.credential(fence, attempt ? this.#options.credential(attempt.assignment) : null);
  }

  #thrownAside(
    executor: Executor,
    { settlement, torn, error }: Extract<FromExecutor, { type: 'thrownAside' }>,
  ): void {
    const attempt = settlement && executor.running.get(settlement.fence);
    if (torn) executor.retiring = true;
    // Its promise may never settle now; that alone is no reason to kill what else is in the process.
    if (attempt) this.#held.settle(attempt, settlement.outcome, Number.POSITIVE_INFINITY);
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
    if (attempt) this.#held.settle(attempt, crashed(error));
  }

  /** What was in it is settled if it is to blame or was asked to stop, let go if it waits, and otherwise runs again. */
  #died(executor: Executor, death: Death): void {
    this.#pool.remove(executor);
    // Closed: what ran in it runs elsewhere, once the server notices.
    if (!this.#pool.isOpen) return;
    const { ready, purpose, culpritKnown } = executor;
    for (const attempt of [...executor.running.values()].toReversed()) {
      const waited = waitsOn(attempt);
      this.#held.exit(attempt, executor);
      if (!ready) attempt.failedStarts += 1;
      const outcome = afterDeath(attempt, executor, death);
      if (waited && attempt.canceledAt === null) this.#suspended.detach(attempt);
      else if (outcome) this.#held.settle(attempt, outcome);
      else {
        attempt.suspect ||= ready && !culpritKnown;
        this.#lines.joinFirst(lineOf(attempt, this.#taskOf(attempt)), attempt);
      }
    }
    if (ready && purpose === 'shared') this.#pool.warm();
    this.#pump();
  }
}
