import type { SerializedError } from '@millrace/contract/runner';
import type { Fragment } from '../../db/connect.ts';
import type { Dispatch } from './dispatch.ts';
import type { Engine } from '../engine.ts';
import type { EndedAttempt, Settled } from '../complete/complete.ts';

/** A run whose runner was lost so often ends as CRASHED: it may be what kills them. */
export const maxRescues = 3;

export interface RescueDependencies {
  readonly engine: Engine;
  readonly dispatch: Dispatch;
  readonly settle: (ended: EndedAttempt) => Promise<Settled>;
}

interface TakenBack {
  readonly env: number;
  readonly run_id: string;
  readonly verdict: 'queued' | 'canceled' | 'crashed';
  readonly fence: string;
  readonly task: string;
}

/**
 * Takes back every run of a runner that is gone: each is queued again, in its old turn, and its late messages are refused.
 * `connection` is the one that ended; without it, the runner's lease must have run out. Does nothing if the runner is back.
 */
export const rescueRunner = (
  dependencies: RescueDependencies,
  runner: string,
  connection?: string,
): Promise<number> =>
  takeBack(
    dependencies,
    sqlOf(dependencies)`
    take_back(${runner}, ${at(dependencies)}, true, ${connection ?? null}, null, null, ${maxRescues})`,
  );

/** Takes back what a living runner was leased before `since` but never got, or no longer holds. */
export const reclaimUnheld = (
  dependencies: RescueDependencies,
  runner: string,
  held: readonly number[],
  since: number,
): Promise<number> =>
  takeBack(
    dependencies,
    sqlOf(dependencies)`
    take_back(${runner}, ${at(dependencies)}, false, null, ${[...held]}::bigint[], ${new Date(since)}, ${maxRescues})`,
  );

/** Lets go of suspended runs whose code is gone with the process that held it, though their runner lives. They wait on without it. */
export const detachRuns = (
  dependencies: RescueDependencies,
  runner: string,
  fences: readonly number[],
): Promise<number> =>
  takeBack(
    dependencies,
    sqlOf(dependencies)`
    detach_runs(${runner}, null, ${at(dependencies)}, ${[...fences]}::bigint[])`,
  );

const sqlOf = ({ engine }: RescueDependencies) => engine.sql;
const at = ({ engine }: RescueDependencies) => new Date(engine.clock.now());

async function takeBack({ engine, dispatch, settle }: RescueDependencies, taking: Fragment): Promise<number> {
  const rows = await engine.sql<TakenBack[]>`
    select b.*, r.task
      from ${taking} b
      cross join lateral (select x.task from runs x where x.env = b.env and x.id = b.run_id limit 1) r`;
  for (const env of new Set(rows.map((row) => row.env))) dispatch.wake(env);
  await Promise.all(
    rows
      .filter((row) => row.verdict !== 'queued')
      .map((row) =>
        settle({
          env: row.env,
          run: row.run_id,
          task: row.task,
          fence: Number(row.fence),
          outcome:
            row.verdict === 'canceled'
              ? { kind: 'canceled' }
              : { kind: 'failed', status: 'CRASHED', error: crashed },
        }),
      ),
  );
  if (rows.length > 0) engine.log.warn('runs.rescued', { runs: rows.length });
  return rows.length;
}

const crashed: SerializedError = {
  type: 'INTERNAL_ERROR',
  name: 'RunnerLost',
  code: 'RUNNER_LOST',
  message: `Its runner was lost ${maxRescues + 1} times while it ran this run. Look for what ends the runner: memory, signals, the machine.`,
  stackTrace: '',
};
