import type { AttemptWaits, Wait } from '@millrace/contract/runner';

/** How long an attempt keeps its slot after a wait, for its next step, in milliseconds. */
const keepSlotMs = 250;

interface Pending {
  readonly wait: Wait;
  readonly over: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

const afterItsEnd = (): Error => new Error('The attempt has ended and can no longer wait.');

export interface WaitsOptions {
  readonly run: string;
  readonly fence: number;
  readonly send: (waits: AttemptWaits) => void;
  /** Pauses or resumes the attempt's `maxDuration`. */
  readonly pause: (paused: boolean) => void;
}

/** The pending waits of an attempt. */
export class Waits {
  readonly #options: WaitsOptions;
  readonly #pending = new Map<string, Pending>();
  #fresh: Wait[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** Creates the error of waits after the attempt's end. Lazy, because it is rarely needed. */
  #ended: (() => Error) | undefined;

  constructor(options: WaitsOptions) {
    this.#options = options;
  }

  /** Resolves when the wait has ended and the attempt has a slot; rejects when the attempt must stop. */
  begin(wait: Wait): Promise<void> {
    const ended = this.#ended;
    if (ended) return Promise.reject(ended());
    // Two waits for the same target are combined.
    const known = this.#pending.get(wait.key);
    if (known) return known.over;
    let callbacks!: Pick<Pending, 'resolve' | 'reject'>;
    const over = new Promise<void>((resolve, reject) => {
      callbacks = { resolve, reject };
    });
    this.#pending.set(wait.key, { wait, over, ...callbacks });
    this.#fresh.push(wait);
    // Waits that begin together are sent together, so that none ends before all are known.
    if (this.#fresh.length === 1) setImmediate(() => this.#sendNew());
    // Code might not await this wait, which must not cause an unhandled rejection.
    over.catch(() => undefined);
    return over;
  }

  suspended(): void {
    clearTimeout(this.#timer);
    this.#options.pause(true);
  }

  /** The attempt has a slot, and these waits have ended. */
  over(keys: readonly string[]): void {
    this.#options.pause(false);
    clearTimeout(this.#timer);
    for (const key of keys) {
      const pending = this.#pending.get(key);
      this.#pending.delete(key);
      pending?.resolve();
    }
    if (this.#pending.size > 0) this.#timer = setTimeout(() => this.#askAgain(), keepSlotMs);
  }

  /** The code has ended, so pending waits are ignored. */
  forget(): void {
    this.#ended ??= afterItsEnd;
    clearTimeout(this.#timer);
    this.#pending.clear();
  }

  /** The code must stop, so pending waits reject. */
  stop(reason: Error): void {
    this.#ended ??= () => reason;
    clearTimeout(this.#timer);
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of pending) reject(reason);
  }

  #sendNew(): void {
    const waits = this.#fresh;
    this.#fresh = [];
    const { run, fence, send } = this.#options;
    if (!this.#ended) send({ run, fence, waits });
  }

  /** The code still waits for something else and nothing new began, so the attempt goes back to waiting. */
  #askAgain(): void {
    const [first] = this.#pending.values();
    const { run, fence, send } = this.#options;
    if (first) send({ run, fence, waits: [first.wait] });
  }
}
