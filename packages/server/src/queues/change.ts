import type { Queue } from '@millrace/contract';
import type { RecordHere } from '../audit/record.ts';
import type { Sql, Transaction } from '../db/connect.ts';
import { findQueue, named, type QueueReference } from './find.ts';

export type QueueChange =
  | { readonly paused: boolean }
  /** Null returns to the declared limit. */
  | { readonly override: number | null; readonly at: Date };

interface QueueState {
  readonly id: number;
  readonly name: string;
  readonly paused: boolean;
  readonly override: number | null;
}

/**
 * Pauses a queue, resumes it or changes its limit. No claim runs meanwhile, so what holds afterwards held for every claim since;
 * lanes that were full or paused are looked at again. Runs that execute already go on. Undefined if there is no such queue.
 */
export async function changeQueue(
  sql: Sql,
  env: number,
  reference: QueueReference,
  change: QueueChange,
  record?: RecordHere,
): Promise<Queue | undefined> {
  await sql.begin(async (tx) => {
    // The queue before the lock of claims, as whoever registers a version.
    const [old] = await tx<QueueState[]>`
      select id, name, paused, concurrency_override as override from queues
       where env = ${env} and ${named(tx, reference)} for no key update`;
    if (!old) return;
    await tx`select claim_lock(${env})`;
    await write(tx, old.id, change);
    await tx`update lanes set blocked = false where queue_id = ${old.id} and blocked`;
    if (record) await recordQueue(tx, record, old, change);
  });
  return findQueue(sql, env, reference);
}

const write = (tx: Transaction, id: number, change: QueueChange) =>
  'paused' in change
    ? tx`update queues set paused = ${change.paused} where id = ${id}`
    : tx`
        update queues
           set concurrency_override = ${change.override}, overridden_at = ${change.override === null ? null : change.at}
         where id = ${id}`;

/** Nothing is recorded of what was so already. */
async function recordQueue(
  tx: Transaction,
  record: RecordHere,
  { id, name, paused, override }: QueueState,
  change: QueueChange,
): Promise<void> {
  const target = `queue_${id}`;
  if ('paused' in change) {
    if (change.paused === paused) return;
    const act = change.paused ? 'queue.paused' : 'queue.resumed';
    await record(tx, { act, target, old: { paused }, new: { name, paused: change.paused } });
  } else if (change.override !== override) {
    const act = change.override === null ? 'queue.overrideReset' : 'queue.overridden';
    await record(tx, { act, target, old: { override }, new: { name, override: change.override } });
  }
}
