import { TokenUsed, unuse, useOnce, type OneTimeUse } from '../../auth/one-time.ts';
import type { Transaction } from '../../db/connect.ts';
import type { Dispatch } from '../dispatch/dispatch.ts';
import type { Engine } from '../engine/engine.ts';
import { insertRuns } from './insert.ts';
import { refusedParent } from './parent.ts';
import type { NewRun } from './row.ts';
import { exceededLimit } from './trigger-limit.ts';
import { Problem } from '../../problem.ts';

/**
 * Creates a run with a one-time token, in a separate transaction: the token is used up if and only if the run is created. Of two concurrent
 * calls, the second waits for the first, and is rejected if that one succeeded.
 */
export async function triggerOnce(
  { sql, clock }: Engine,
  dispatch: Pick<Dispatch, 'wake' | 'expect'>,
  run: NewRun,
  use: OneTimeUse,
): Promise<{ readonly id: string; readonly isCached: boolean }> {
  const act = async (tx: Transaction) => {
    const [existing] = await tx<{ run_id: string }[]>`
      select id as run_id from runs where env = ${run.env} and request_key = ${run.requestKey ?? null}::uuid
      union all
      select run_id from run_parts where env = ${run.env} and request_key = ${run.requestKey ?? null}::uuid limit 1`;
    if (existing) return { ...existing, cached: false };
    await useOnce(tx, run.env, use, run.id);
    const [inserted] = await insertRuns({ sql: tx, clock }, [run]);
    // The token remains unused.
    if (inserted && inserted.refused !== null) {
      const exceeded = exceededLimit(inserted.refused, run);
      throw exceeded instanceof Problem ? exceeded : refusedParent(inserted.refused, run.parentId ?? '');
    }
    if (inserted?.cached) await unuse(tx, use);
    return inserted;
  };
  const row = await sql.begin(act).catch((error: unknown) => {
    // The same request may have been sent twice at the same time, and the other one used the token. Its run is found now.
    if (error instanceof TokenUsed && run.requestKey !== undefined) return sql.begin(act);
    throw error;
  });
  if (!row) throw new TypeError('no row was returned for the inserted run');
  if (!row.cached) {
    if (run.state === 'queued') dispatch.wake(run.env);
    if (run.due) dispatch.expect(run.due.getTime());
  }
  return { id: row.run_id, isCached: row.cached };
}
