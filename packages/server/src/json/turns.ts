/** Lets other work of the process have its turn between the parts of a long one. */
import { setImmediate } from 'node:timers/promises';

/** Characters of a body that takes milliseconds to parse, to validate and to write: each of these gets a turn of its own. */
export const largeBody = 65_536;

/** The turns of one piece of work that has many small parts. A turn takes `maxMs` milliseconds. */
export class Turns {
  readonly #maxMs: number;
  #since = performance.now();

  constructor(maxMs = 8) {
    this.#maxMs = maxMs;
  }

  /** Call it between parts: resolves in a later turn once this one has taken its time; else undefined. */
  next(): Promise<void> | undefined {
    if (performance.now() - this.#since < this.#maxMs) return undefined;
    return setImmediate().then(() => {
      this.#since = performance.now();
    });
  }
}
