import type { Sql } from '../db/connect.ts';
import { retryOnConflict } from '../db/retry.ts';
import type { Outcome, WriteBatches } from './batch.ts';
import { writeConditionally } from './write-conditional.ts';
import { writeFast, type FastWriter } from './write-fast.ts';

/** Writes batches with the fast path where possible, and the others with the conditional one. */
export function createWrite(fast: FastWriter, conditional: Sql, now: () => number): WriteBatches {
  return async (batches) => {
    const at = now();
    const outcomes = [...(await retryOnConflict(() => writeFast(fast, batches, at)))];
    const left = batches.flatMap((batch, index) => (outcomes[index] ? [] : [{ batch, index }]));
    if (left.length > 0) {
      const batchesLeft = left.map(({ batch }) => batch);
      // The batches of the fast path are already committed, so a failure here must not reject their appends.
      const others = await retryOnConflict(() =>
        writeConditionally(conditional, batchesLeft, new Date(at)),
      ).catch((reason: unknown) => left.map((): Outcome => ({ state: 'failed', reason })));
      for (const [position, { index }] of left.entries()) outcomes[index] = others[position];
    }
    return outcomes as Outcome[];
  };
}
