import { badRequest } from '../problem.ts';
import { isDataError } from './data-error.ts';

export interface GroupOptions {
  /** Most items of one write. Default 500. */
  readonly most?: number;
  /** Writes under way at once. Default 1: what arrives during a commit makes the next one larger. */
  readonly inFlight?: number;
}

/**
 * Group commit: calls that arrive while a write is under way share the next one, its statement and its commit. A lone call is
 * written at the end of its tick; nobody waits for company. `write` answers one result an item, in order.
 *
 * When a write fails for its data, its items are written again one by one, so that only the bad one fails its caller.
 */
export function groupCommit<T, R>(
  write: (items: readonly T[]) => Promise<readonly R[]>,
  { most = 500, inFlight = 1 }: GroupOptions = {},
): (item: T) => Promise<R> {
  interface Waiting {
    readonly item: T;
    resolve(result: R): void;
    reject(reason: unknown): void;
  }
  let waiting: Waiting[] = [];
  let writing = 0;
  let scheduled = false;

  const settle = async (group: readonly Waiting[]): Promise<void> => {
    try {
      const results = await write(group.map((one) => one.item));
      group.forEach((one, index) => one.resolve(results[index] as R));
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : '';
      if (conflicts.has(code)) return settle(group);
      if (group.length > 1 && isDataError(error)) {
        for (const one of group) await settle([one]);
        return;
      }
      const reason = noText.has(code)
        ? badRequest('The request contains a character that cannot be stored (U+0000).')
        : error;
      for (const one of group) one.reject(reason);
    }
  };

  const flush = (): void => {
    scheduled = false;
    while (waiting.length > 0 && writing < inFlight) {
      const group = waiting.slice(0, most);
      waiting = waiting.slice(most);
      writing++;
      void settle(group).finally(() => {
        writing--;
        flush();
      });
    }
  };

  return (item) =>
    new Promise<R>((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (scheduled || writing >= inFlight) return;
      scheduled = true;
      setImmediate(flush);
    });
}

/** It met another write; nothing of it remains, and it may go again. */
const conflicts = new Set(['40P01', '40001']);
const noText = new Set(['22021', '22P05']);
