import type { RecordHere } from '../../audit/record.ts';
import type { Transaction } from '../../db/connect.ts';
import { unprocessable } from '../../problem.ts';
import type { Engine } from '../engine/engine.ts';
import { retrieveBulkAction } from './read.ts';

// The key space of the advisory lock taken by the steps and aborts of one action.
const abortSpace = 7144009;

/**
 * Takes the lock for a step of the action, or reports that an abort is waiting for it. The row lock alone would not preserve the order,
 * because `skip locked` may take a free row before a waiting session wakes up, so the abort could wait behind one step after another.
 */
export async function lockUnlessAborting(tx: Transaction, env: number, id: string): Promise<boolean> {
  const [row] = await tx<{ locked: boolean }[]>`
    select pg_try_advisory_xact_lock(${abortSpace}, hashtext(${`${env} ${id}`})) as locked`;
  return row?.locked === true;
}

/** Takes the same lock after the current step, before any further one. */
export const waitForSteps = (tx: Transaction, env: number, id: string) =>
  tx`select pg_advisory_xact_lock(${abortSpace}, hashtext(${`${env} ${id}`}))`;

/** Ends a bulk action at its current point. Waits for the runs being processed; no further runs are started. */
export async function abortBulkAction(
  { sql, clock }: Pick<Engine, 'sql' | 'clock'>,
  env: number,
  id: string,
  record?: RecordHere,
): Promise<void> {
  await retrieveBulkAction(sql, env, id);
  const ended = await sql.begin(async (tx) => {
    await waitForSteps(tx, env, id);
    const { count } = await tx`
      update bulk_actions set status = 'ABORTED', completed_at = ${new Date(clock.now())}
       where env = ${env} and id = ${id} and status = 'PENDING'`;
    if (count > 0) await record?.(tx, { act: 'bulkAction.aborted', target: id });
    return count > 0;
  });
  // Reads the current state: another call may have ended the action in the meantime.
  if (!ended && (await retrieveBulkAction(sql, env, id)).status !== 'ABORTED') {
    throw unprocessable('The bulk action has already ended.');
  }
}
