import type { RecordHere } from '../../audit/record.ts';
import type { Transaction } from '../../db/connect.ts';
import { unprocessable } from '../../problem.ts';
import type { Engine } from '../engine/engine.ts';
import { retrieveBulkAction } from './read.ts';

// The key space of the advisory lock that pieces and aborts of one action take.
const abortSpace = 7144009;

/**
 * Takes the lock for a piece of the action, or says that an abort waits for it. The lock of the row alone would not keep the order:
 * `skip locked` may take a free row before a session that waits for it wakes, and piece after piece would go before the abort.
 */
export async function lockUnlessAborting(tx: Transaction, env: number, id: string): Promise<boolean> {
  const [row] = await tx<{ locked: boolean }[]>`
    select pg_try_advisory_xact_lock(${abortSpace}, hashtext(${`${env} ${id}`})) as locked`;
  return row?.locked === true;
}

/** Ends a bulk action where it is. It waits for the runs that are being acted on right now, and none comes after them. */
export async function abortBulkAction(
  { sql, clock }: Pick<Engine, 'sql' | 'clock'>,
  env: number,
  id: string,
  record?: RecordHere,
): Promise<void> {
  await retrieveBulkAction(sql, env, id);
  const ended = await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${abortSpace}, hashtext(${`${env} ${id}`}))`;
    const { count } = await tx`
      update bulk_actions set status = 'ABORTED', completed_at = ${new Date(clock.now())}
       where env = ${env} and id = ${id} and status = 'PENDING'`;
    if (count > 0) await record?.(tx, { act: 'bulkAction.aborted', target: id });
    return count > 0;
  });
  // As it is now: another call may have ended it meanwhile.
  if (!ended && (await retrieveBulkAction(sql, env, id)).status !== 'ABORTED') {
    throw unprocessable('The bulk action is over already: there is nothing left to stop.');
  }
}
