import type { Dispatch } from './dispatch.ts';
import { tickMs } from './limits.ts';
import { Prefetch } from './prefetch.ts';

/** Milliseconds after which an attempt that waits here for a slot had better wait at the server. */
const giveBackMs = 1_000;

/** Looks at what runs ten times a second, while anything does. */
export class Pace {
  readonly #dispatch: Dispatch;
  readonly #tell: (prefetch: number) => void;
  readonly #prefetch = new Prefetch();
  #timer: NodeJS.Timeout | undefined;
  #finished = 0;

  constructor(dispatch: Dispatch, tell: (prefetch: number) => void) {
    this.#dispatch = dispatch;
    this.#tell = tell;
  }

  get prefetch(): number {
    return this.#prefetch.amount;
  }

  start(): void {
    this.#timer ??= setInterval(() => this.#look(), tickMs);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #look(): void {
    const dispatch = this.#dispatch;
    dispatch.tick();
    const waited = dispatch.hasWaited(giveBackMs);
    const change = this.#prefetch.look(dispatch.finished - this.#finished, waited);
    this.#finished = dispatch.finished;
    // Before anything is given back, or the server would send it here again.
    if (change !== undefined) this.#tell(change);
    dispatch.giveBack(giveBackMs);
    if (!dispatch.hasWork && this.#prefetch.amount === 0) this.stop();
  }
}
