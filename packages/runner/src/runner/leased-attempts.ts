import type { Outcome, Settlement } from '@millrace/contract/runner';
import type { Attempt } from './executor.ts';
import type { Executor } from './executor.ts';
import type { WaitingAttempts } from './waiting-attempts.ts';
import type { AttemptEnd } from './options.ts';
import type { Pool } from './pool.ts';

export interface LeasedAttemptsOptions {
  readonly report: (settlement: Settlement) => void;
  readonly onAttemptEnd?: ((end: AttemptEnd) => void) | undefined;
}

/** The attempts that this runner holds, waiting or in processes, until they are completed or taken away. */
export class LeasedAttempts {
  readonly #pool: Pool;
  readonly #waiting: WaitingAttempts;
  readonly #options: LeasedAttemptsOptions;
  readonly #byFence = new Map<number, Attempt>();
  #onEmpty: (() => void) | undefined;
  /** Attempts in processes that are not suspended. */
  busy = 0;
  /** Total number of completed attempts. */
  finished = 0;

  constructor(pool: Pool, waiting: WaitingAttempts, options: LeasedAttemptsOptions) {
    this.#pool = pool;
    this.#waiting = waiting;
    this.#options = options;
  }

  get attempts(): Iterable<Attempt> {
    return this.#byFence.values();
  }

  get fences(): number[] {
    return [...this.#byFence.keys()];
  }

  get size(): number {
    return this.#byFence.size;
  }

  get(fence: number): Attempt | undefined {
    return this.#byFence.get(fence);
  }

  add(attempt: Attempt): void {
    this.#byFence.set(attempt.assignment.fence, attempt);
  }

  /** Resolves when no attempt is held. */
  emptied(): Promise<void> {
    if (this.#byFence.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onEmpty = resolve;
    });
  }

  /** Assigns the attempt to a process; false if there is none for its task. */
  enter(attempt: Attempt, executor: Executor | undefined): executor is Executor {
    if (!executor) {
      this.complete(attempt, { kind: 'unknownTask' });
      return false;
    }
    attempt.executor = executor;
    attempt.variablesRevision = this.#pool.variablesRevision;
    attempt.startedAt = executor.ready ? performance.now() : null;
    attempt.touched = true;
    executor.running.set(attempt.assignment.fence, attempt);
    this.busy += 1;
    return true;
  }

  /** Removes the attempt from its process and from the attempts that wait for a slot in it. */
  exit(attempt: Attempt, executor: Executor): void {
    executor.leave(attempt);
    if (attempt.suspendedAt === null) this.busy -= 1;
    if (attempt.resuming) this.#waiting.leave(attempt);
    attempt.executor = null;
    attempt.startedAt = null;
    attempt.suspendedAt = null;
    attempt.resuming = null;
    attempt.waits.clear();
  }

  /** With `leftoverUntil`, its code may keep running in its process until then. */
  complete(
    attempt: Attempt,
    outcome: Outcome,
    leftoverUntil?: number,
    consumed?: Settlement['consumed'],
  ): void {
    const { run, fence, task, attempt: number } = attempt.assignment;
    const { startedAt, variablesRevision: revision } = attempt;
    this.forget(attempt, leftoverUntil);
    this.finished += 1;
    this.#options.report({
      run,
      fence,
      outcome,
      ...(revision !== undefined && { revision }),
      ...(consumed && { consumed }),
    });
    if (!this.#options.onAttemptEnd || outcome.kind === 'released') return;
    const took = startedAt === null ? 0 : performance.now() - startedAt;
    this.#options.onAttemptEnd({ run, task, attempt: number, outcome, took });
  }

  /** Removes the attempt without notifying the server. */
  forget(attempt: Attempt, leftoverUntil?: number): void {
    const { fence } = attempt.assignment;
    const { executor } = attempt;
    this.#byFence.delete(fence);
    if (this.#byFence.size === 0) this.#onEmpty?.();
    if (!executor) return this.#waiting.leave(attempt);
    this.exit(attempt, executor);
    if (leftoverUntil !== undefined) executor.leftovers.set(fence, leftoverUntil);
    this.#pool.endIfDone(executor);
  }
}
