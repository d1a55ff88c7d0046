import type { BatchItem } from '@millrace/contract';
import type { Environment } from '../auth/principal.ts';
import type { Transaction } from '../db/connect.ts';
import type { Batches } from './batch.ts';
import { fillAtOnce } from './fill-at-once.ts';
import { fillIn } from './fill.ts';
import { prepareItem } from './item.ts';
import { isConflict, openIn, type NewBatch } from './open.ts';

/** Opens a batch and fills it with all its items in one transaction: it is there whole or not at all. */
export async function createWhole(
  batches: Batches,
  environment: Environment,
  newBatch: NewBatch,
  items: readonly Omit<BatchItem, 'index'>[],
) {
  const now = batches.clock.now();
  const act = async (tx: Transaction) => {
    const opened = await openIn(tx, newBatch, now);
    const { batch, parent } = opened;
    const prepared = await Promise.all(
      items.map(async (item, index) => ({
        run: await prepareItem(batches, environment, batch, parent, { ...item, index }),
        isOversized: false,
      })),
    );
    const { id: env } = environment;
    const { tell } =
      (await fillAtOnce(tx, env, batch, prepared, now)) ?? (await fillIn(tx, env, batch.id, prepared, now));
    return { opened, tell };
  };
  try {
    return await batches.sql.begin(act);
  } catch (error) {
    // The same request came twice at once: now what the other one made is there to be found.
    if (isConflict(error)) return batches.sql.begin(act);
    throw error;
  }
}
