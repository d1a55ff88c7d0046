/** Lets other work in the process run between the parts of long work. */
import { setImmediate } from 'node:timers/promises';

/**
 * Size in characters from which a body takes milliseconds to parse, validate and write, so that each of these steps gets a separate turn.
 */
export const largeBody = 65_536;

/** The turns of one piece of work with many small parts. A turn takes `maxMs` milliseconds. */
export class Turns {
  readonly #maxMs: number;
  #since = performance.now();

  constructor(maxMs = 8) {
    this.#maxMs = maxMs;
  }

  /** Call it between parts: resolves in a later turn once this one has used its time; otherwise undefined. */
  next(): Promise<void> | undefined {
    if (performance.now() - this.#since < this.#maxMs) return undefined;
    return setImmediate().then(() => {
      this.#since = performance.now();
    });
  }
}

/** `map` of a list, in several turns if it takes long. A short list is mapped synchronously. */
export async function mapInTurns<T, R>(
  items: Iterable<T>,
  map: (item: T, index: number) => R | Promise<R>,
  turns = new Turns(),
): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) {
    const result = map(item, results.length);
    results.push(result instanceof Promise ? await result : result);
    const next = turns.next();
    if (next) await next;
  }
  return results;
}

/** `Promise.all` of a list: its promises are created one after another, in several turns if that takes long. */
export async function allInTurns<T, R>(
  items: Iterable<T>,
  start: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const turns = new Turns();
  const started: Promise<R>[] = [];
  for (const item of items) {
    const promise = start(item, started.length);
    // It may reject before the others are started.
    promise.catch(() => {});
    started.push(promise);
    const next = turns.next();
    if (next) await next;
  }
  return Promise.all(started);
}
