import type { Queue } from '@millrace/contract';
import type { Sql } from '../db/connect.ts';
import { findQueue, named, type QueueReference } from './find.ts';

export type QueueChange =
  | { readonly paused: boolean }
  /** Null returns to the declared limit. */
  | { readonly override: number | null; readonly at: Date };

/**
 * Pauses a queue, resumes it or changes its limit. No claim runs meanwhile, so what holds afterwards held for every claim since;
 * lanes that were full or paused are looked at again. Runs that execute already go on. Undefined if there is no such queue.
 */
export async function changeQueue(
  sql: Sql,
  env: number,
  reference: QueueReference,
  change: QueueChange,
): Promise<Queue | undefined> {
  await sql.begin(async (tx) => {
    await tx`select claim_lock(${env})`;
    const [row] =
      'paused' in change
        ? await tx<{ id: number }[]>`
            update queues set paused = ${change.paused} where env = ${env} and ${named(tx, reference)} returning id`
        : await tx<{ id: number }[]>`
            update queues
               set concurrency_override = ${change.override}, overridden_at = ${change.override === null ? null : change.at}
             where env = ${env} and ${named(tx, reference)} returning id`;
    if (row)
      await tx`update lanes set blocked = false where env = ${env} and queue_id = ${row.id} and blocked`;
  });
  return findQueue(sql, env, reference);
}
