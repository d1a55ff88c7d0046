import type { BatchItem } from '@millrace/contract';
import type { Environment } from '../auth/principal.ts';
import type { Transaction } from '../db/connect.ts';
import { mapInTurns } from '../json/turns.ts';
import type { Batches } from './batch.ts';
import { fillAtOnce } from './fill-at-once.ts';
import { fillIn } from './fill.ts';
import { completeItem, readItem } from './item.ts';
import { isMaybeDuplicate, openIn, type NewBatch } from './open.ts';

/** Opens a batch and fills it with all its items in one transaction, all or nothing. */
export async function createWhole(
  batches: Batches,
  environment: Environment,
  newBatch: NewBatch,
  items: readonly Omit<BatchItem, 'index'>[],
) {
  const now = batches.clock.now();
  // Runs before the transaction, because transactions that each wait for a second connection could deadlock.
  const runs = await mapInTurns(items, (item, index) => readItem(batches, environment, { ...item, index }));
  const act = async (tx: Transaction) => {
    const opened = await openIn(tx, newBatch, now);
    const { batch, parent } = opened;
    const prepared = runs.map((run, index) => ({
      run: completeItem(run, batch, parent, index),
      isOversized: false,
    }));
    const { id: env } = environment;
    const { notify } =
      (await fillAtOnce(tx, env, batch, prepared, now)) ?? (await fillIn(tx, env, batch.id, prepared, now));
    return { opened, notify };
  };
  try {
    return await batches.sql.begin(act);
  } catch (error) {
    if (isMaybeDuplicate(error, newBatch.requestKey)) return batches.sql.begin(act);
    throw error;
  }
}
