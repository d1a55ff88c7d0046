import type { AttemptWaits } from '@millrace/contract/runner';
import type { Attempt } from './executor.ts';
import type { Executor } from './executor.ts';
import type { LeasedAttempts } from './leased-attempts.ts';
import type { WaitingAttempts } from './waiting-attempts.ts';

export interface SuspendedAttemptsOptions {
  /** Sends the waits of attempts to the server. */
  readonly wait: (attempts: readonly AttemptWaits[]) => void;
  /** Notifies the server that attempts keep waiting without this runner. */
  readonly detach: (fences: readonly number[]) => void;
}

/** Whether the attempt is suspended and its wait has not ended. */
export const isWaiting = ({ suspendedAt, resuming }: Attempt): boolean => suspendedAt !== null && !resuming;

/** Waiting attempts. Suspended ones remain in their process without a slot until they get one again. */
export class SuspendedAttempts {
  readonly #leased: LeasedAttempts;
  readonly #waiting: WaitingAttempts;
  readonly #options: SuspendedAttemptsOptions;
  /** Whether suspended attempts are detached immediately. */
  #detachesAll = false;

  constructor(leased: LeasedAttempts, waiting: WaitingAttempts, options: SuspendedAttemptsOptions) {
    this.#leased = leased;
    this.#waiting = waiting;
    this.#options = options;
  }

  /** Registers new waits of attempts in a process. */
  begin(executor: Executor, begun: readonly AttemptWaits[]): void {
    const live = begun.filter(({ fence }) => executor.running.has(fence));
    for (const { fence, waits } of live) {
      const attempt = executor.running.get(fence);
      for (const wait of waits) attempt?.waits.set(wait.key, wait);
    }
    if (live.length > 0) this.#options.wait(live);
  }

  /** Requests the state of all waits again, because the server's replies may have been lost. */
  askAgain(): void {
    const attempts = [...this.#leased.attempts]
      .filter(({ waits }) => waits.size > 0)
      .map(({ assignment: { run, fence }, waits }) => ({ run, fence, waits: [...waits.values()] }));
    if (attempts.length > 0) this.#options.wait(attempts);
  }

  /** The server suspended the attempt. */
  suspend(attempt: Attempt, suspension: number): void {
    if (suspension <= attempt.resumedSuspension || attempt.suspendedAt !== null || !attempt.executor) return;
    attempt.suspendedAt = performance.now();
    this.#leased.busy -= 1;
    attempt.executor.waited({ fence: attempt.assignment.fence, state: 'suspended', keys: [] });
    if (this.#detachesAll) this.detach(attempt);
  }

  /** Waits have ended. The attempt is notified immediately or, if it is suspended, when it gets a slot. */
  resume(attempt: Attempt, suspension: number, keys: readonly string[]): void {
    const { fence } = attempt.assignment;
    attempt.resumedSuspension = Math.max(attempt.resumedSuspension, suspension);
    for (const key of keys) attempt.waits.delete(key);
    if (attempt.suspendedAt === null) attempt.executor?.waited({ fence, state: 'running', keys });
    else if (attempt.resuming) attempt.resuming.push(...keys);
    else {
      attempt.resuming = [...keys];
      this.#waiting.join('resuming', attempt);
    }
  }

  /** The attempt has a slot again and continues. */
  proceed(attempt: Attempt): void {
    const { fence } = attempt.assignment;
    const paused = attempt.suspendedAt === null ? 0 : performance.now() - attempt.suspendedAt;
    if (attempt.startedAt !== null) attempt.startedAt += paused;
    const keys = attempt.resuming ?? [];
    attempt.suspendedAt = null;
    attempt.resuming = null;
    this.#leased.busy += 1;
    attempt.executor?.waited({ fence, state: 'running', keys });
  }

  /** Detaches all suspended attempts, including later ones. */
  detachAll(): void {
    this.#detachesAll = true;
    for (const attempt of this.#leased.attempts) if (isWaiting(attempt)) this.detach(attempt);
  }

  /** Its code has ended or will end. The server keeps it waiting and later gives it to any runner. */
  detach(attempt: Attempt): void {
    this.#options.detach([attempt.assignment.fence]);
    this.#leased.forget(attempt);
  }
}
