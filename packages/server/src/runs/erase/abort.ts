import type { Erasure } from '@millrace/contract';
import type { RecordHere } from '../../audit/record.ts';
import { unprocessable } from '../../problem.ts';
import { waitForSteps } from '../bulk/abort.ts';
import type { Engine } from '../engine/engine.ts';
import { retrieveErasure } from './read.ts';

/** Ends an erasure at its current position. Waits for the runs being processed. */
export async function abortErasure(
  { sql, clock }: Pick<Engine, 'sql' | 'clock'>,
  env: number,
  id: string,
  record?: RecordHere,
): Promise<Erasure> {
  await retrieveErasure(sql, env, id);
  const ended = await sql.begin(async (tx) => {
    await waitForSteps(tx, env, id);
    const { count } = await tx`
      update erasures set status = 'ABORTED', filter = null, run_ids = null, completed_at = ${new Date(clock.now())}
       where env = ${env} and id = ${id} and status = 'PENDING'`;
    if (count > 0) await record?.(tx, { act: 'erasure.aborted', target: id });
    return count > 0;
  });
  const erasure = await retrieveErasure(sql, env, id);
  // Another call may have ended it in the meantime.
  if (!ended && erasure.status !== 'ABORTED') throw unprocessable('The erasure has already ended.');
  return erasure;
}
