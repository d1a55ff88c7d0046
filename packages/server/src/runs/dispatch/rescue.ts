import type { SerializedError } from '@millrace/contract/runner';
import type { Fragment } from '../../db/connect.ts';
import { databaseNow } from '../../db/clock.ts';
import type { Dispatch } from './dispatch.ts';
import type { Engine } from '../engine/engine.ts';
import type { Complete } from '../complete/attempt.ts';

/** A run whose runner is lost more often than this ends as CRASHED, because the run may be the cause. */
export const maxRescues = 3;

export interface RescueDependencies {
  readonly engine: Engine;
  readonly dispatch: Dispatch;
  readonly complete: Complete;
}

interface TakenBack {
  readonly env: number;
  readonly run_id: string;
  readonly verdict: 'queued' | 'canceled' | 'crashed';
  readonly fence: string;
  readonly task: string;
  readonly queue: string;
  readonly version: string | null;
}

/**
 * Reclaims every run of a lost runner: each is requeued with its old sort key, and late messages about it are rejected. `connection` is the
 * one that ended; without it, the runner's lease must have expired. Does nothing if the runner has reconnected, or could not because of an
 * outage of the database.
 */
export const rescueRunner = (
  dependencies: RescueDependencies,
  runner: string,
  connection?: string,
): Promise<number> =>
  takeBack(
    dependencies,
    sqlOf(dependencies)`
    reclaim_leases(${runner}, ${at(dependencies)}, true, ${connection === undefined ? null : endedConnection(dependencies, runner, connection)},
                   null, null, ${maxRescues})`,
  );

/**
 * Reclaims the remaining attempts of a runner that stopped cleanly: those that never reached it, or that it could not return in time. This
 * does not count as a loss.
 */
export const takeLeftovers = (
  dependencies: RescueDependencies,
  runner: string,
  connection: string,
): Promise<number> =>
  takeBack(
    dependencies,
    sqlOf(dependencies)`
    reclaim_leases(${runner}, ${at(dependencies)}, true, ${connection}, null, null, null)`,
    'runs.released',
  );

/** Reclaims attempts that were leased to a connected runner before `since` and never arrived, or are no longer held. */
export const reclaimUnheld = (
  dependencies: RescueDependencies,
  runner: string,
  leased: readonly number[],
  since: number,
): Promise<number> =>
  takeBack(
    dependencies,
    sqlOf(dependencies)`
    reclaim_leases(${runner}, ${at(dependencies)}, false, null, ${[...leased]}::bigint[], ${new Date(since)}, ${maxRescues})`,
  );

/** Detaches suspended runs from their runner, whose executor process ended with their code in it. They continue to wait without it. */
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

/**
 * The connection, or null if the database was unavailable and its runner could not have reconnected; the runner's lease must then expire.
 * The time is that of execution, because a statement sent during an outage is executed when it ends.
 */
const endedConnection = ({ engine }: RescueDependencies, runner: string, connection: string): Fragment =>
  engine.sql`(
    select case when r.heartbeat_at >= w.resumed_at and ${databaseNow(engine)} <= w.ticked_at + w.lease / 4 then ${connection} end
      from runners r cross join lease_watch w where r.id = ${runner})`;

async function takeBack(
  { engine, dispatch, complete }: RescueDependencies,
  taking: Fragment,
  event: 'runs.rescued' | 'runs.released' = 'runs.rescued',
): Promise<number> {
  const rows = await engine.sql<TakenBack[]>`
    select b.*, r.task, q.name as queue, v.version
      from ${taking} b
      cross join lateral (select x.task, x.queue_id, x.version_id from runs x where x.env = b.env and x.id = b.run_id limit 1) r
      join queues q on q.id = r.queue_id
      left join versions v on v.id = r.version_id`;
  for (const env of new Set(rows.map((row) => row.env))) dispatch.wake(env);
  await Promise.all(
    rows
      .filter((row) => row.verdict !== 'queued')
      .map((row) =>
        complete({
          env: row.env,
          run: row.run_id,
          task: row.task,
          queue: row.queue,
          version: row.version ?? undefined,
          fence: Number(row.fence),
          outcome:
            row.verdict === 'canceled'
              ? { kind: 'canceled' }
              : { kind: 'failed', status: 'CRASHED', error: crashed },
        }),
      ),
  );
  if (rows.length > 0) {
    if (event === 'runs.released') engine.log.info(event, { runs: rows.map((row) => row.run_id) });
    else engine.log.warn(event, { runs: rows.length });
  }
  return rows.length;
}

const crashed: SerializedError = {
  type: 'INTERNAL_ERROR',
  name: 'RunnerLost',
  code: 'RUNNER_LOST',
  message: `The runner was lost ${maxRescues + 1} times during this run. Check why the runner ends: out of memory, a signal, or a failing machine.`,
  stackTrace: '',
};
