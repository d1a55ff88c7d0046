import { codeOf, isDataError, UnstorableText } from './errors.ts';
import { retryOnConflict } from './retry.ts';

export interface GroupOptions<T> {
  /** Maximum number of items of one write. Default 500. */
  readonly maxItems?: number;
  /** Maximum number of concurrent writes. Default 1: calls that arrive during a commit make the next write larger. */
  readonly inFlight?: number;
  /** Size of the items of one write, in the unit of `sizeOf`. A single item may be larger. Default: unlimited. */
  readonly maxSize?: number;
  readonly sizeOf?: (item: T) => number;
  /** If not all waiting items fit in the next write, tenants take turns. Default: in the order of the calls. */
  readonly tenantOf?: (item: T) => number;
  /** Called with the number of items of each write. */
  readonly onWrite?: (items: number) => void;
}

/**
 * Group commit: calls that arrive during a write share the next write, its statement and its commit. No call waits for more to arrive: a
 * single one is written at the end of its tick. `write` resolves with one result for each item, in order.
 *
 * If a write fails because of its data, its items are written one by one, so that only the bad one rejects. If PostgreSQL aborts it because
 * of a concurrent one, it is retried with increasing delays, and rejects after the last attempt.
 */
export function groupCommit<T, R>(
  write: (items: readonly T[]) => Promise<readonly R[]>,
  {
    maxItems = 500,
    inFlight = 1,
    maxSize = Infinity,
    sizeOf = () => 0,
    tenantOf,
    onWrite,
  }: GroupOptions<T> = {},
): (item: T) => Promise<R> {
  interface Waiting {
    readonly item: T;
    resolve(result: R): void;
    reject(reason: unknown): void;
  }
  let waiting: Waiting[] = [];
  let writing = 0;
  let scheduled = false;

  const writeGroup = async (group: readonly Waiting[]): Promise<void> => {
    try {
      const items = group.map((entry) => entry.item);
      const results = await retryOnConflict(() => write(items));
      group.forEach((entry, index) => entry.resolve(results[index] as R));
    } catch (error) {
      const code = codeOf(error);
      if (group.length > 1 && isDataError(error)) {
        for (const entry of group) await writeGroup([entry]);
        return;
      }
      const reason = unstorable.has(code) ? new UnstorableText(error) : error;
      for (const entry of group) entry.reject(reason);
    }
  };

  const countOfNext = (): number => {
    let count = 0;
    let size = 0;
    for (const { item } of waiting) {
      size += sizeOf(item);
      if (count === maxItems || (count > 0 && size > maxSize)) break;
      count++;
    }
    return count;
  };

  const flush = (): void => {
    scheduled = false;
    while (waiting.length > 0 && writing < inFlight) {
      if (tenantOf && countOfNext() < waiting.length) waiting = inTurns(waiting, tenantOf);
      const group = waiting.slice(0, countOfNext());
      waiting = waiting.slice(group.length);
      writing++;
      onWrite?.(group.length);
      void writeGroup(group).finally(() => {
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

/** The first item of each tenant, then the second of each, and so on. Items of one tenant stay in order. */
function inTurns<T, W extends { readonly item: T }>(
  waiting: readonly W[],
  tenantOf: (item: T) => number,
): W[] {
  const turns = new Map<number, number>();
  const ranked = waiting.map((entry) => {
    const tenant = tenantOf(entry.item);
    const turn = turns.get(tenant) ?? 0;
    turns.set(tenant, turn + 1);
    return { entry, turn };
  });
  return ranked.toSorted((a, b) => a.turn - b.turn).map(({ entry }) => entry);
}

const unstorable = new Set(['22021', '22P05']);
