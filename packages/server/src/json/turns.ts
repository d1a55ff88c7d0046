/** Lets other work of the process have its turn between the parts of a long one. */
import { setImmediate } from 'node:timers/promises';

/** Characters of a body that takes milliseconds to parse, to validate and to write: each of these gets a turn of its own. */
export const largeBody = 65_536;

const maxMs = 8;

/** The turns of one piece of work that has many small parts. */
export class Turns {
  #since = performance.now();

  /** Call it after each part: resolves in a later turn once this one has taken some milliseconds; else undefined. */
  next(): Promise<void> | undefined {
    if (performance.now() - this.#since < maxMs) return undefined;
    return setImmediate().then(() => {
      this.#since = performance.now();
    });
  }
}
