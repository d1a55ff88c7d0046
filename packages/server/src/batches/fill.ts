import { retryOnConflict } from '../db/retry.ts';
import type { Transaction } from '../db/connect.ts';
import { withoutDuplicates } from '../runs/create/duplicates.ts';
import { insertRuns } from '../runs/create/insert.ts';
import type { InsertedRow, NewRun } from '../runs/create/row.ts';
import { unprocessable } from '../problem.ts';
import type { Batches, BatchRow, Filled, PreparedItem, Written } from './batch.ts';
import { fillAtOnce } from './fill-at-once.ts';
import { endUpFront, failUpFront } from './oversized.ts';
import { columns } from './open.ts';

/** `hold` locks the parent run in the transaction that writes, or throws. It is set for the batch of a run. */
export async function fillBatch(
  batches: Batches,
  env: number,
  batch: BatchRow,
  items: readonly PreparedItem[],
  hold?: (tx: Transaction) => Promise<void>,
): Promise<Filled> {
  const now = batches.clock.now();
  const { sql } = batches;
  const inGeneral = (tx: Transaction): Promise<Written> => fillIn(tx, env, batch.id, items, now);
  const { filled, notify } = hold
    ? await retryOnConflict(() =>
        sql.begin(async (tx) => {
          await hold(tx);
          return (await fillAtOnce(tx, env, batch, items, now)) ?? inGeneral(tx);
        }),
      )
    : ((await fillAtOnce(sql, env, batch, items, now)) ?? (await sql.begin(inGeneral)));
  notify(batches);
  return filled;
}

/**
 * Writes the items of a batch that do not exist yet, in the caller's transaction. With the last item the batch is sealed, in the same
 * transaction. Uploads of one batch take turns on its row, so it is sealed exactly once.
 */
export async function fillIn(
  tx: Transaction,
  env: number,
  batch: string,
  items: readonly PreparedItem[],
  now: number,
): Promise<Written> {
  const [row] = await tx<BatchRow[]>`
    select ${columns(tx)} from batches where env = ${env} and id = ${batch} for no key update`;
  if (!row) throw unprocessable(`Batch ${batch} not found`);
  if (row.aborted_at !== null) throw abortedBatch(batch);
  if (row.sealed_at !== null) return { filled: alreadySealed(row, items), notify() {} };
  const fresh = await withoutKnown(tx, env, row, items);
  if (fresh.length > 0) await insertItems(tx, env, row, fresh);
  const received = row.received + fresh.length;
  const filled = {
    accepted: fresh.length,
    deduplicated: items.length - fresh.length,
    received,
    sealed: received === row.run_count,
  };
  if (!filled.sealed) {
    // Nothing has been promised yet: items lost in a crash of PostgreSQL are resent. Therefore this commit does not wait for the disk.
    await tx`
      update batches set received = ${received} where env = ${env} and id = ${batch}
      returning set_config('synchronous_commit', 'off', true)`;
    return { filled, notify() {} };
  }
  const [sealed] = await tx<{ queued: boolean; due: Date | null; failed: boolean }[]>`
    select * from seal_batch(${env}, ${batch}, ${new Date(now)})`;
  if (sealed?.failed) await endUpFront(tx, env, batch, now);
  return {
    filled,
    notify({ dispatch }) {
      if (sealed?.queued) dispatch.wake(env);
      if (sealed?.due) dispatch.expect(sealed.due.getTime());
    },
  };
}

export const abortedBatch = (batch: string) =>
  unprocessable(
    `Batch ${batch} was aborted because its items did not arrive in time: create another batch.`,
    'batch_aborted',
  );

const alreadySealed = (row: BatchRow, items: readonly unknown[]): Filled => ({
  accepted: 0,
  deduplicated: items.length,
  received: row.run_count,
  sealed: true,
});

async function withoutKnown(
  tx: Transaction,
  env: number,
  { id, received }: BatchRow,
  items: readonly PreparedItem[],
): Promise<PreparedItem[]> {
  const known = new Set<string>();
  if (received > 0) {
    const rows = await tx<{ id: string }[]>`
      select id from runs where env = ${env} and id >= batch_prefix(${id}) and id < batch_prefix(${id}) || '~'
      union all
      select item_id from batch_cached where env = ${env} and item_id >= batch_prefix(${id}) and item_id < batch_prefix(${id}) || '~'`;
    for (const row of rows) known.add(row.id);
  }
  return items.filter(({ run }) => !known.has(run.id) && known.add(run.id));
}

async function insertItems(
  tx: Transaction,
  env: number,
  { created_at }: BatchRow,
  items: readonly PreparedItem[],
): Promise<void> {
  const { runs, indexes } = withoutDuplicates(items.map((item) => item.run));
  const unsealed = runs.map((run): NewRun => ({ ...run, state: 'unsealed' }));
  // All items have the time of their batch.
  const rows = await insertRuns({ sql: tx, clock: { now: () => created_at.getTime() } }, unsealed);
  const runIds = indexes.map((index) => (rows[index] as InsertedRow).run_id);
  await link(tx, env, items, runIds);
  const oversized = items.filter((item) => item.isOversized).map((item) => item.run.id);
  if (oversized.length > 0) await failUpFront(tx, env, oversized);
}

/** Stores the existing run for an item that created none. */
async function link(
  tx: Transaction,
  env: number,
  items: readonly PreparedItem[],
  runIds: readonly string[],
): Promise<void> {
  const links = items.flatMap(({ run }, index) => {
    const other = runIds[index] as string;
    return other === run.id ? [] : [{ item: run.id, other }];
  });
  if (links.length === 0) return;
  await tx`
    insert into batch_cached (env, item_id, run_id)
    select ${env}, i.item, i.run_id
      from unnest(${links.map((each) => each.item)}::text[], ${links.map((each) => each.other)}::text[]) as i (item, run_id)`;
}
