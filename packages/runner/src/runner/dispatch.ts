import { availableParallelism } from 'node:os';
import type {
  AttemptWaited,
  CompactAssignment,
  LogLine,
  Outcome,
  Settlement,
  SpanChunk,
} from '@millrace/contract/runner';
import type { ServedTask } from './served-build.ts';
import type { Death } from '../executor/spawn.ts';
import type { FromExecutor } from '../executor/messages.ts';
import { newAttempt } from './attempt.ts';
import type { Attempt } from './executor.ts';
import { afterDeath, crashed, startsAtMost } from './crash.ts';
import type { Credential } from './credential.ts';
import { DirectOutput } from './direct-output.ts';
import type { Executor } from './executor.ts';
import { LeasedAttempts } from './leased-attempts.ts';
import type { LeasedAttemptsOptions } from './leased-attempts.ts';
import { checkHealth, evict, isBlockedByOthers, overdue } from './limits.ts';
import type { Limits } from './limits.ts';
import { LostFiles } from './lost-files.ts';
import { purposeOf, WaitingAttempts } from './waiting-attempts.ts';
import { Pool } from './pool.ts';
import type { Slots, SlotUser } from './slots.ts';
import type { ExecutorEnvironment, PoolOptions } from './pool.ts';
import { SuspendedAttempts, isWaiting } from './suspended-attempts.ts';
import type { SuspendedAttemptsOptions } from './suspended-attempts.ts';

export interface DispatchOptions
  extends Omit<PoolOptions, 'events'>, Limits, LeasedAttemptsOptions, SuspendedAttemptsOptions {
  /** Shared with other environments of this runner. */
  readonly slots: Slots;
  /** Fetches a version that is not available here. False if that failed. Omitted if this runner does not fetch. */
  readonly load?: ((version: string) => Promise<boolean>) | undefined;
  /** Verifies the files of a version and fetches them again if they have changed. False if that failed. */
  readonly repair?: ((version: string) => Promise<boolean>) | undefined;
  /** Issues the credential of an attempt. */
  readonly credential: (attempt: CompactAssignment) => Credential;
  readonly log: (lines: readonly LogLine[]) => void;
  readonly spans: (spans: readonly SpanChunk[]) => void;
  readonly onOutput: (stream: 'stdout' | 'stderr', text: string) => void;
}

/** Maximum number of concurrent processes for suspects, which are attempts of a shared process that died. */
const suspectsAtOnce = Math.max(2, Math.min(4, availableParallelism()));

/** Returned to the server although its code may have begun. */
const returned = { kind: 'released', started: true } as const;

/** Only the runner returns attempts. Code that could do so itself would run over and over without being counted. */
const isForged = (outcome: Outcome): boolean => outcome.kind === 'released';

/** Holds the attempts of this runner and puts them into executor processes. */
export class Dispatch implements SlotUser {
  readonly #options: DispatchOptions;
  readonly #pool: Pool;
  readonly #waiting = new WaitingAttempts();
  readonly #leased: LeasedAttempts;
  readonly #suspended: SuspendedAttempts;
  readonly #lostFiles: LostFiles;

  constructor(options: DispatchOptions) {
    this.#options = options;
    const output = new DirectOutput(options);
    this.#pool = new Pool({
      ...options,
      events: {
        onReady: (executor) => this.#ready(executor),
        onProgress: (executor, progress) => this.#progress(executor, progress),
        onWaits: (executor, attempts) => this.#suspended.begin(executor, attempts),
        onCredential: (executor, fence) => this.#credential(executor, fence),
        onUncaught: (executor, message) => this.#uncaught(executor, message),
        onExiting: (executor, message) => this.#exiting(executor, message),
        onDeath: (executor, death) => this.#died(executor, death),
        onOutput: (executor, stream, text) => output.write(executor, stream, text),
      },
    });
    this.#leased = new LeasedAttempts(this.#pool, this.#waiting, options);
    this.#suspended = new SuspendedAttempts(this.#leased, this.#waiting, options);
    this.#lostFiles = new LostFiles(options.intact);
    options.slots.add(this);
  }

  /** Attempts that have a slot. */
  get busy(): number {
    return this.#leased.busy;
  }

  /** Attempts that have a slot or wait for one. */
  get active(): number {
    return this.#leased.size === 0 ? 0 : this.#leased.busy + this.#waiting.size;
  }

  /** Maximum number of concurrent attempts. */
  get limit(): number {
    return this.#options.slots.limit(this);
  }

  /** Fences of everything held here. */
  get fences(): number[] {
    return this.#leased.fences;
  }

  /** Ids of the runs that are held here. */
  get runs(): string[] {
    return [...this.#leased.attempts].map(({ assignment }) => assignment.run);
  }

  /** Ids of the runs that `close` would return. */
  get unfinished(): string[] {
    return [...this.#leased.attempts].flatMap(({ assignment, canceledAt }) =>
      canceledAt === null ? [assignment.run] : [],
    );
  }

  /** Total number of completed attempts. */
  get finished(): number {
    return this.#leased.finished;
  }

  get pids(): number[] {
    return this.#pool.pids;
  }

  /** Versions that attempts or processes use. */
  get versionsInUse(): Set<string> {
    const attempts = [...this.#leased.attempts].map(({ assignment }) => assignment.version);
    return new Set([...attempts, ...[...this.#pool.executors].map(({ version }) => version)]);
  }

  /** Whether ticks are needed: for attempts, for code of completed attempts, or for starting processes. */
  get hasWork(): boolean {
    return this.#leased.size > 0 || this.#pool.hasWork;
  }

  /** Resolves when no attempt is held. */
  emptied(): Promise<void> {
    return this.#leased.emptied();
  }

  /** Sets the environment for new processes. Running ones keep theirs. */
  setEnvironment(executorEnvironment: ExecutorEnvironment): void {
    this.#pool.setEnvironment(executorEnvironment);
  }

  /** Sets the versions for which a process is kept ready. */
  keep(versions: readonly string[]): void {
    this.#pool.keep(versions);
  }

  /** Starts a shared process of a version. Returns the reason why it has not started, or undefined. */
  async start(version: string): Promise<string | undefined> {
    // Without the environment's variables nothing can start yet. It will start when there is work.
    const executor = this.#pool.shared(version);
    if (!executor || (await executor.started)) return undefined;
    const { code, signal, lastLines } = await executor.died;
    if (executor.ending && executor.killedFor === null) return undefined;
    const how = executor.killedFor ?? `its process ended (${signal ?? `exit code ${code}`})`;
    return [`its task files could not be imported: ${how}`, ...lastLines.slice(-5)].join('\n');
  }

  assign(assignments: readonly CompactAssignment[]): void {
    const now = performance.now();
    for (const assignment of assignments) {
      if (this.#leased.get(assignment.fence)) continue;
      const attempt = newAttempt(assignment, now);
      this.#leased.add(attempt);
      const { version } = assignment;
      const { build, load } = this.#options;
      if (!load || build(version)) this.#admit(attempt);
      else {
        this.#waiting.join('loading', attempt);
        void load(version).then((isLoaded) => this.#loaded(version, isLoaded));
      }
    }
    this.#pump();
  }

  cancel(fences: readonly number[]): void {
    for (const fence of fences) {
      const attempt = this.#leased.get(fence);
      if (!attempt || attempt.canceledAt !== null) continue;
      attempt.canceledAt = performance.now();
      if (attempt.executor) attempt.executor.cancel([fence]);
      else this.#leased.complete(attempt, { kind: 'canceled' });
    }
  }

  /** Stops attempts that this runner no longer owns, without notifying the server. */
  drop(fences: readonly number[]): void {
    for (const fence of fences) {
      const attempt = this.#leased.get(fence);
      if (!attempt) continue;
      attempt.executor?.cancel([fence]);
      this.#leased.forget(attempt, performance.now() + this.#options.graceMs);
    }
    this.#pump();
  }

  /** Handles the server's updates about waits. */
  waited(news: readonly AttemptWaited[]): void {
    for (const { fence, state, suspension, keys } of news) {
      const attempt = this.#leased.get(fence);
      if (!attempt) continue;
      if (state === 'stale') this.drop([fence]);
      else if (state === 'suspended') this.#suspended.suspend(attempt, suspension ?? 0);
      else this.#suspended.resume(attempt, suspension ?? 0, keys);
    }
    this.#pump();
  }

  /** Requests the state of all waits again, because the server's replies may have been lost. */
  askAgain(): void {
    this.#suspended.askAgain();
  }

  /** Detaches all suspended attempts, including later ones. */
  detachSuspended(): void {
    this.#suspended.detachAll();
  }

  /** Returns attempts that have waited for this many milliseconds and have not started to the server. Returns the ids of their runs. */
  releaseWaiting(waited: number): string[] {
    const unstarted = this.#waiting.unstarted(waited);
    for (const attempt of unstarted) this.#leased.complete(attempt, { kind: 'released' });
    return unstarted.map(({ assignment }) => assignment.run);
  }

  /** Whether an attempt that could be returned has waited for this many milliseconds. */
  hasWaited(milliseconds: number): boolean {
    return this.#waiting.hasWaited(milliseconds);
  }

  /** Enforces time limits. Call every `tickMs`. */
  tick(): void {
    const now = performance.now();
    for (const attempt of this.#leased.attempts) {
      const { executor, assignment } = attempt;
      const seconds = assignment.maxDuration ?? this.#taskOf(attempt)?.maxDuration ?? null;
      const outcome = overdue(attempt, seconds, this.#options.graceMs, now);
      // Other attempts in a killed process run again.
      if (!outcome || !executor || executor.ending) continue;
      if (outcome.kind === 'failed' && isBlockedByOthers(executor)) {
        // The attempts run again one by one, which identifies the blocking one.
        executor.kill(null);
        continue;
      }
      this.#leased.complete(attempt, outcome, now);
      evict(executor, this.#options, now);
    }
    for (const executor of this.#pool.executors) checkHealth(executor, this.#options, now);
    this.#pump();
  }

  /**
   * Ends all processes; resolves when they have ended. Returns each unfinished attempt to the server when its process has ended, so that no
   * other runner starts it while it runs here. An outcome that the process has already sent still counts.
   */
  close(): Promise<void> {
    this.#options.slots.remove(this);
    const closed = this.#pool.close();
    for (const attempt of this.#leased.attempts)
      if (!attempt.executor) this.#leased.complete(attempt, returned);
    return closed;
  }

  /** Lets an attempt of an available version wait for a process. */
  #admit(attempt: Attempt): void {
    const task = this.#taskOf(attempt);
    if (task) this.#waiting.join(purposeOf(attempt, task), attempt);
    else this.#leased.complete(attempt, { kind: 'unknownTask' });
  }

  /** The version for which attempts waited is available, or failed to load. */
  #loaded(version: string, isLoaded: boolean): void {
    const isHere = isLoaded && this.#options.build(version) !== undefined;
    for (const attempt of isHere ? this.#waiting.takeLoading(version) : this.#waiting.takeAll(version)) {
      if (isHere) this.#admit(attempt);
      else this.#leased.complete(attempt, attempt.touched ? returned : { kind: 'released' });
    }
    this.#pump();
  }

  #repair(version: string): void {
    void this.#options.repair?.(version).then((isLoaded) => {
      this.#lostFiles.forget(version);
      this.#loaded(version, isLoaded);
    });
  }

  #taskOf({ assignment }: Attempt): ServedTask | undefined {
    return this.#options.build(assignment.version)?.tasks[assignment.task];
  }

  #pump(): void {
    if (!this.#pool.isOpen) return;
    const { limit } = this;
    while (this.#leased.busy < limit) {
      const attempt = this.#waiting.next('resuming');
      if (!attempt) break;
      this.#suspended.proceed(attempt);
    }
    while (this.#waiting.first('suspect') && this.#pool.busy('suspect') < suspectsAtOnce) {
      this.#runAlone('suspect');
    }
    while (this.#leased.busy < limit) {
      const attempt = this.#waiting.first('isolated');
      if (!attempt || !this.#pool.hasMemoryFor(attempt)) break;
      this.#runAlone('isolated');
    }
    const batches = new Map<Executor, Attempt[]>();
    for (const attempt of this.#waiting.take('shared', limit - this.#leased.busy)) {
      const executor = this.#pool.shared(attempt.assignment.version);
      if (!this.#leased.enter(attempt, executor)) continue;
      const batch = batches.get(executor);
      if (batch) batch.push(attempt);
      else batches.set(executor, [attempt]);
    }
    for (const [executor, attempts] of batches) executor.run(attempts);
  }

  #runAlone(purpose: 'suspect' | 'isolated'): void {
    const attempt = this.#waiting.next(purpose);
    if (!attempt) return;
    const executor = this.#pool.alone(attempt, purpose);
    if (this.#leased.enter(attempt, executor)) executor.run([attempt]);
  }

  #ready(executor: Executor): void {
    const now = performance.now();
    for (const attempt of executor.running.values()) attempt.startedAt = now;
  }

  #progress(
    executor: Executor,
    { settlements, lines, spans }: Extract<FromExecutor, { type: 'progress' }>,
  ): void {
    if (lines.length > 0) this.#options.log(lines);
    if (spans) this.#options.spans(spans);
    for (const { fence, outcome, consumed } of settlements) {
      const attempt = executor.running.get(fence);
      if (isForged(outcome)) continue;
      if (attempt) this.#end(executor, attempt, outcome, consumed);
      else if (executor.leftovers.delete(fence)) this.#pool.endIfDone(executor);
    }
    this.#pump();
  }

  /**
   * Completes an attempt. If it failed because the cache lost a file of its version, it is returned to the server instead: the version is
   * repaired, and new processes serve it.
   */
  #end(executor: Executor, attempt: Attempt, outcome: Outcome, consumed: Settlement['consumed']): void {
    const { version, fence } = attempt.assignment;
    const checked = this.#lostFiles.check(version, outcome);
    if (!checked) return this.#leased.complete(attempt, outcome, undefined, consumed);
    void checked.then((isIntact) => {
      // The attempt was taken away in the meantime, or its process has ended.
      if (executor.running.get(fence) !== attempt) return;
      const isDamaged = !isIntact && attempt.canceledAt === null;
      if (isDamaged) {
        for (const other of this.#pool.executors) if (other.version === version) other.retiring = true;
        this.#repair(version);
      }
      this.#leased.complete(attempt, isDamaged ? returned : outcome, undefined, consumed);
      this.#pump();
    });
  }

  /** Replaces the credentials of all attempts. */
  renewCredentials(): void {
    for (const { executor, assignment } of this.#leased.attempts)
      if (executor) this.#credential(executor, assignment.fence);
  }

  /** Issues a credential only for an attempt in that process. */
  #credential(executor: Executor, fence: number): void {
    const attempt = executor.running.get(fence);
    executor.credential(fence, attempt ? this.#options.credential(attempt.assignment) : null);
  }

  #uncaught(
    executor: Executor,
    { settlement, torn, error }: Extract<FromExecutor, { type: 'uncaught' }>,
  ): void {
    const attempt = settlement && executor.running.get(settlement.fence);
    if (torn) executor.retiring = true;
    // Its promise may never resolve now, but other attempts in the process may continue.
    if (attempt && !isForged(settlement.outcome))
      this.#leased.complete(attempt, settlement.outcome, Number.POSITIVE_INFINITY);
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
    if (attempt) this.#leased.complete(attempt, crashed(error));
  }

  /**
   * Completes attempts that caused the crash or received a stop signal, detaches waiting ones, and queues the others again. After `close`,
   * returns the others to the server.
   */
  #died(executor: Executor, death: Death): void {
    this.#pool.remove(executor);
    const { ready, purpose, culpritKnown } = executor;
    for (const attempt of [...executor.running.values()].toReversed()) {
      const waited = isWaiting(attempt);
      this.#leased.exit(attempt, executor);
      if (!ready) attempt.failedStarts += 1;
      attempt.suspect ||= ready
        ? !culpritKnown
        : purpose === 'shared' && attempt.failedStarts >= startsAtMost;
      const killed = this.#pool.isClosed && attempt.canceledAt === null;
      const outcome = killed ? returned : afterDeath(attempt, this.#taskOf(attempt), executor, death);
      if (waited && attempt.canceledAt === null) this.#suspended.detach(attempt);
      else if (outcome) this.#leased.complete(attempt, outcome);
      else if (!ready && this.#options.repair) this.#waiting.join('loading', attempt);
      else this.#waiting.joinFirst(purposeOf(attempt, this.#taskOf(attempt)), attempt);
    }
    if (ready && purpose === 'shared') this.#pool.warm();
    const { version } = executor;
    if (!ready) this.#repair(version);
    this.#pump();
  }
}
