import type { RecordHere } from '../../audit/record.ts';
import { unprocessable } from '../../problem.ts';
import type { Engine } from '../engine.ts';
import { retrieveBulkAction } from './read.ts';

/** Ends a bulk action where it is. It waits for the runs that are being acted on right now, and none comes after them. */
export async function abortBulkAction(
  { sql, clock }: Pick<Engine, 'sql' | 'clock'>,
  env: number,
  id: string,
  record?: RecordHere,
): Promise<void> {
  await retrieveBulkAction(sql, env, id);
  const ended = await sql.begin(async (tx) => {
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
