import type { Transaction } from '../../db/connect.ts';
import { unprocessable } from '../../problem.ts';
import type { Dispatch } from '../dispatch/dispatch.ts';
import type { Engine } from '../engine/engine.ts';
import { insertRuns } from '../create/insert.ts';
import type { NewRun } from '../create/row.ts';

const maxNamed = 20;

/**
 * Creates the run of a replay from a step, with the results of the steps that ended before it, in one transaction, because no runner may
 * receive the run without them. 422 if the original has no such step.
 */
export async function replayFromStep(
  { sql, clock }: Pick<Engine, 'sql' | 'clock'>,
  dispatch: Pick<Dispatch, 'wake' | 'expect'>,
  run: NewRun,
  fromStep: string,
): Promise<{ readonly id: string; readonly isCached: boolean }> {
  const { env, replayOf = '' } = run;
  const inserted = await sql.begin(async (tx) => {
    const seq = await seqOf(tx, env, replayOf, fromStep);
    const [row] = await insertRuns({ sql: tx, clock }, [run]);
    if (!row) throw new TypeError('no row was returned for the inserted run');
    // A request that was sent before already has its run and steps.
    if (row.run_id === run.id) {
      await tx`
        insert into run_steps (env, run_id, name, kind, status, seq, attempt, version_id, tries, started_at, ended_at, detail, output,
                               output_type, sealed, sealed_id, is_sequential, taken_from)
        select s.env, ${run.id}, s.name, s.kind, s.status, s.seq, s.attempt, s.version_id, s.tries, s.started_at, s.ended_at, s.detail,
               s.output, s.output_type, s.sealed, s.sealed_id, s.is_sequential, coalesce(s.taken_from, s.run_id)
          from run_steps s
         where s.env = ${env} and s.run_id = ${replayOf} and s.status = 'COMPLETED' and (s.seq, s.name) < (${seq}::int, ${fromStep}::text)`;
    }
    return row;
  });
  if (run.state === 'queued') dispatch.wake(env);
  if (run.due) dispatch.expect(run.due.getTime());
  return { id: inserted.run_id, isCached: false };
}

async function seqOf(tx: Transaction, env: number, run: string, name: string): Promise<number> {
  const rows = await tx<{ name: string; seq: number; is_requested: boolean }[]>`
    (select s.name, s.seq, true as is_requested from run_steps s where s.env = ${env} and s.run_id = ${run} and s.name = ${name})
    union all
    (select s.name, s.seq, false from run_steps s where s.env = ${env} and s.run_id = ${run} order by s.seq, s.name limit ${maxNamed + 1})`;
  const step = rows.find((row) => row.is_requested);
  if (step) return step.seq;
  if (rows.length === 0)
    throw unprocessable('fromStep: the run has no stored steps. Replay it without fromStep.');
  const names = rows.slice(0, maxNamed).map((row) => `"${row.name}"`);
  const others = rows.length > maxNamed ? ' and others' : '';
  throw unprocessable(
    `fromStep: the run has no stored step "${name}". Its steps: ${names.join(', ')}${others}.`,
  );
}
