import type { Body, Erasure, Operations } from '@millrace/contract';
import type { RecordHere } from '../../audit/record.ts';
import { newTimedId } from '../../db/ids.ts';
import { isStorable } from '../../db/storable.ts';
import { Problem } from '../../problem.ts';
import { queryOfAnyAge } from '../bulk/create.ts';
import type { Engine } from '../engine/engine.ts';
import { idAt } from '../list/position.ts';
import { readFilter } from '../list/read-filter.ts';
import { retrieveErasure } from './read.ts';

export const maxPendingErasures = 50;

/** Stores an erasure for the background job. One whose filter cannot match ends immediately. */
export async function createErasure(
  { sql, clock }: Pick<Engine, 'sql' | 'clock'>,
  env: number,
  { filter, runIds, mode }: Body<Operations['createErasure']>,
  record?: RecordHere,
): Promise<Erasure> {
  const [pending] = await sql<{ count: number }[]>`
    select count(*)::int as count from erasures where env = ${env} and status = 'PENDING'`;
  if ((pending?.count ?? 0) >= maxPendingErasures) {
    const message = `${maxPendingErasures} erasures are in progress in this environment. Wait for one to end, or abort one.`;
    throw new Problem('rate_limited', message, {}, false);
  }
  const now = clock.now();
  const at = new Date(now);
  const id = newTimedId('erasure', now);
  // Resolved now, so that a period counts from the request.
  const found = filter && (await readFilter(sql, [env], queryOfAnyAge(filter), now));
  const isOver = filter !== undefined && found === undefined;
  const ids = runIds && [...new Set(runIds)].filter(isStorable);
  await sql.begin(async (tx) => {
    await tx`
      insert into erasures (env, id, mode, status, filter, run_ids, cursor, created_at, due_at, completed_at)
      values (${env}, ${id}, ${mode === 'delete' ? 'DELETE' : 'ERASE'}, ${isOver ? 'COMPLETED' : 'PENDING'},
              ${found ? JSON.stringify(found) : null}::text::jsonb, ${ids ?? null}::text[],
              ${filter ? idAt(now + 1) : '~'}, ${at}, ${at}, ${isOver ? at : null}::timestamptz)`;
    await record?.(tx, { act: 'erasure.created', target: id, new: { mode, filter, runs: ids?.length } });
  });
  return retrieveErasure(sql, env, id);
}
