import type { AttemptWaits } from '@millrace/contract/runner';
import type { Attempt } from './executor.ts';
import type { Executor } from './executor.ts';
import type { Held } from './held.ts';
import type { Lines } from './lines.ts';

export interface SuspendedOptions {
  /** Tells the server what attempts wait for. */
  readonly wait: (attempts: readonly AttemptWaits[]) => void;
  /** Tells the server that attempts wait on without this runner. */
  readonly detach: (fences: readonly number[]) => void;
}

/** Whether it is suspended, and what it waits for is not over. */
export const waitsOn = ({ suspendedAt, returning }: Attempt): boolean => suspendedAt !== null && !returning;

/** Attempts that wait: suspended they stay in their process and take no slot, until they get one to go on in. */
export class Suspended {
  readonly #held: Held;
  readonly #lines: Lines;
  readonly #options: SuspendedOptions;
  /** No suspended attempt is held on to. */
  #letsGo = false;

  constructor(held: Held, lines: Lines, options: SuspendedOptions) {
    this.#held = held;
    this.#lines = lines;
    this.#options = options;
  }

  /** Takes in what attempts in a process have begun to wait for. */
  begin(executor: Executor, begun: readonly AttemptWaits[]): void {
    const live = begun.filter(({ fence }) => executor.running.has(fence));
    for (const { fence, waits } of live) {
      const attempt = executor.running.get(fence);
      for (const wait of waits) attempt?.waits.set(wait.key, wait);
    }
    if (live.length > 0) this.#options.wait(live);
  }

  /** Asks again about everything that is waited for: what was said of it may have been lost. */
  askAgain(): void {
    const attempts = [...this.#held.attempts]
      .filter(({ waits }) => waits.size > 0)
      .map(({ assignment: { run, fence }, waits }) => ({ run, fence, waits: [...waits.values()] }));
    if (attempts.length > 0) this.#options.wait(attempts);
  }

  /** The server has it suspended. */
  suspend(attempt: Attempt, spell: number): void {
    if (spell <= attempt.resumedSpell || attempt.suspendedAt !== null || !attempt.executor) return;
    attempt.suspendedAt = performance.now();
    this.#held.busy -= 1;
    attempt.executor.waited({ fence: attempt.assignment.fence, state: 'suspended', keys: [] });
    if (this.#letsGo) this.detach(attempt);
  }

  /** These of its waits are over: it is told at once, or, suspended, in its turn. */
  resume(attempt: Attempt, spell: number, keys: readonly string[]): void {
    const { fence } = attempt.assignment;
    attempt.resumedSpell = Math.max(attempt.resumedSpell, spell);
    for (const key of keys) attempt.waits.delete(key);
    if (attempt.suspendedAt === null) attempt.executor?.waited({ fence, state: 'running', keys });
    else if (attempt.returning) attempt.returning.push(...keys);
    else {
      attempt.returning = [...keys];
      this.#lines.join('returning', attempt);
    }
  }

  /** It has a slot again, and goes on. */
  comeBack(attempt: Attempt): void {
    const { fence } = attempt.assignment;
    const paused = attempt.suspendedAt === null ? 0 : performance.now() - attempt.suspendedAt;
    if (attempt.startedAt !== null) attempt.startedAt += paused;
    const keys = attempt.returning ?? [];
    attempt.suspendedAt = null;
    attempt.returning = null;
    this.#held.busy += 1;
    attempt.executor?.waited({ fence, state: 'running', keys });
  }

  /** Lets go of attempts that are suspended, now and from now on: they wait on without this process. */
  letGo(): void {
    this.#letsGo = true;
    for (const attempt of this.#held.attempts) if (waitsOn(attempt)) this.detach(attempt);
  }

  /** Its code is gone, or is to go; the server has it wait on and gives it to whoever is there then. */
  detach(attempt: Attempt): void {
    this.#options.detach([attempt.assignment.fence]);
    this.#held.forget(attempt);
  }
}
