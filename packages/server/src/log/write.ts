import { retryOnDeadlock } from '../db/retry.ts';
import type { Sql } from '../db/connect.ts';
import type { Pending } from './append.ts';
import type { ChannelKey } from './key.ts';
import type { AppendRefusal } from './refused.ts';
import { writePlainly, type PlainWriter } from './write-fast.ts';
import { writeWithCare } from './write-conditional.ts';

/** What one write appends to one channel. */
export interface Batch {
  readonly key: ChannelKey;
  readonly appends: readonly Pending[];
  /** Appends with the part id of one of `appends`. */
  readonly twins: ReadonlyMap<Pending, readonly Pending[]>;
}

/** What became of a batch. `failed`: nobody knows. `tail` is the number its first record has, or would have had. */
export type Outcome =
  | { readonly state: 'ok' | AppendRefusal; readonly tail: number; readonly at: number }
  | { readonly state: 'failed'; readonly reason: unknown }
  | {
      readonly state: 'repeat';
      readonly tail: number;
      readonly at: number;
      /** By digest of the part id. */
      readonly repeated: ReadonlyMap<string, { readonly start: number; readonly end: number }>;
    };

/** Writes batches in one commit; answers one outcome a batch, in order. */
export type WriteBatches = (batches: readonly Batch[]) => Promise<readonly Outcome[]>;

export function createWrite(writer: PlainWriter, sql: Sql, now: () => number): WriteBatches {
  return async (batches) => {
    const at = now();
    const outcomes = [...(await retryOnDeadlock(() => writePlainly(writer, batches, at)))];
    const left = batches.flatMap((batch, place) => (outcomes[place] ? [] : [{ batch, place }]));
    if (left.length > 0) {
      const batchesLeft = left.map(({ batch }) => batch);
      // What was written plainly stays written, whatever becomes of these.
      const others = await retryOnDeadlock(() => writeWithCare(sql, batchesLeft, new Date(at))).catch(
        (reason: unknown) => left.map((): Outcome => ({ state: 'failed', reason })),
      );
      for (const [index, { place }] of left.entries()) outcomes[place] = others[index];
    }
    return outcomes as Outcome[];
  };
}
