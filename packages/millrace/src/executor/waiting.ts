import type { AttemptWaits, Wait } from '@millrace/contract/runner';

/** An attempt that was told of an ended wait keeps its place for so many milliseconds, for what it does next. */
const keptMs = 250;

interface Pending {
  readonly wait: Wait;
  readonly over: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

const afterItsEnd = (): Error => new Error('The attempt has ended: it cannot wait any more.');

export interface WaitingOptions {
  readonly run: string;
  readonly fence: number;
  readonly send: (waits: AttemptWaits) => void;
  /** The time that it may take stands still, or runs again. */
  readonly pause: (paused: boolean) => void;
}

/** The waits of one attempt that are not over. */
export class Waiting {
  readonly #options: WaitingOptions;
  readonly #pending = new Map<string, Pending>();
  #fresh: Wait[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** Why nothing can be waited for any more. Errors are made when somebody asks: almost no attempt waits after its end. */
  #ended: (() => Error) | undefined;

  constructor(options: WaitingOptions) {
    this.#options = options;
  }

  /** Resolves when it is over and the attempt has a place; rejects when the attempt is asked to stop. */
  begin(wait: Wait): Promise<void> {
    const ended = this.#ended;
    if (ended) return Promise.reject(ended());
    // Two that wait for the same thing wait together.
    const known = this.#pending.get(wait.key);
    if (known) return known.over;
    let settle!: Pick<Pending, 'resolve' | 'reject'>;
    const over = new Promise<void>((resolve, reject) => {
      settle = { resolve, reject };
    });
    this.#pending.set(wait.key, { wait, over, ...settle });
    this.#fresh.push(wait);
    // Waits that begin together are told together: nothing is over before all are known.
    if (this.#fresh.length === 1) setImmediate(() => this.#tell());
    // One that nobody looks at is no fault of the attempt when it is asked to stop.
    over.catch(() => undefined);
    return over;
  }

  suspended(): void {
    clearTimeout(this.#timer);
    this.#options.pause(true);
  }

  /** It has its place; these are over. */
  over(keys: readonly string[]): void {
    this.#options.pause(false);
    clearTimeout(this.#timer);
    for (const key of keys) {
      const pending = this.#pending.get(key);
      this.#pending.delete(key);
      pending?.resolve();
    }
    if (this.#pending.size > 0) this.#timer = setTimeout(() => this.#askAgain(), keptMs);
  }

  /** Its code has ended: what it left behind is of no interest. */
  forget(): void {
    this.#ended ??= afterItsEnd;
    clearTimeout(this.#timer);
    this.#pending.clear();
  }

  /** Its code is asked to stop: what waits throws. */
  stop(reason: Error): void {
    this.#ended ??= () => reason;
    clearTimeout(this.#timer);
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of pending) reject(reason);
  }

  #tell(): void {
    const waits = this.#fresh;
    this.#fresh = [];
    const { run, fence, send } = this.#options;
    if (!this.#ended) send({ run, fence, waits });
  }

  /** Something else is still waited for, and nothing new began: back to waiting. */
  #askAgain(): void {
    const [first] = this.#pending.values();
    const { run, fence, send } = this.#options;
    if (first) send({ run, fence, waits: [first.wait] });
  }
}
