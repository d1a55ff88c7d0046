import type { Dispatch } from './dispatch.ts';
import { tickMs } from './limits.ts';
import { Prefetch } from './prefetch.ts';

/** How long an attempt waits for a slot before it is returned to the server, in milliseconds. */
const releaseAfterMs = 1_000;

/** Calls `dispatch.tick` ten times a second while there is work, and adjusts how many attempts the runner accepts. */
export class Ticker {
  readonly #dispatch: Dispatch;
  readonly #notify: (capacity: number) => void;
  readonly #prefetch = new Prefetch();
  #timer: NodeJS.Timeout | undefined;
  #finished = 0;
  #limit: number;

  constructor(dispatch: Dispatch, notify: (capacity: number) => void) {
    this.#dispatch = dispatch;
    this.#notify = notify;
    this.#limit = dispatch.limit;
  }

  /** Maximum number of attempts that may be sent to this runner, including prefetched ones. */
  get capacity(): number {
    return this.#limit + this.#prefetch.amount;
  }

  start(): void {
    this.#timer ??= setInterval(() => this.#tick(), tickMs);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #tick(): void {
    const dispatch = this.#dispatch;
    dispatch.tick();
    const waited = dispatch.hasWaited(releaseAfterMs);
    const change = this.#prefetch.update(dispatch.finished - this.#finished, waited);
    this.#finished = dispatch.finished;
    const { limit } = dispatch;
    const isOther = limit !== this.#limit;
    this.#limit = limit;
    // Done before attempts are returned, because otherwise the server would send them here again.
    if (change !== undefined || isOther) this.#notify(this.capacity);
    dispatch.releaseWaiting(releaseAfterMs);
    if (!dispatch.hasWork && this.#prefetch.amount === 0) this.stop();
  }
}
