import { retryOnConflict } from '../../db/retry.ts';
import type { Queryable } from '../../db/connect.ts';
import type { ConnectedRunner, ConnectedRunners } from '../../runners/runners.ts';
import type { Engine } from '../engine/engine.ts';

/**
 * Cancels a run and its descendants. Runs that wait end at once. A live attempt is asked to stop through its runner, wherever that is
 * connected, and ends CANCELED when it has stopped. A final run stays as it is. Returns false if there is no such run.
 */
export async function cancelRun(
  engine: Engine,
  runners: ConnectedRunners,
  env: number,
  run: string,
): Promise<boolean> {
  const { sql, clock } = engine;
  // The locks of a whole tree may deadlock with those of runs in it that begin to wait or end.
  const live = await retryOnConflict(() => markCanceled(sql, env, run, new Date(clock.now())));
  tellRunners(engine, runners, live);
  if (live.length === 0) {
    const [row] = await sql`select from runs where env = ${env} and id = ${run}`;
    if (!row) return false;
  }
  // Which descendants it reached is not known here.
  engine.changes.someChanged(env);
  engine.changes.changed(env, [run]);
  return true;
}

/** An attempt that was asked to stop; its runner does not know yet. */
export interface AskedToStop {
  readonly runner_id: string;
  readonly fence: string;
}

/** The part of a cancellation that PostgreSQL does. After the commit the runners must be told. It may lose a deadlock (see db/retry.ts). */
export const markCanceled = (sql: Queryable, env: number, run: string, at: Date): Promise<AskedToStop[]> =>
  sql<AskedToStop[]>`select * from cancel_runs(${env}, ${run}, ${at})`;

/** Live attempts of an environment that have been asked to stop and have not yet. */
export const markedCanceled = (sql: Queryable, env: number): Promise<AskedToStop[]> =>
  sql<AskedToStop[]>`
    select runner_id, fence from leases where env = ${env} and cancel_requested
    union all
    select runner_id, fence from suspended where env = ${env} and cancel_requested and runner_id is not null`;

/** Passes a cancellation to the runners that execute the attempts, wherever they are connected. */
export function tellRunners(
  { wakes }: Pick<Engine, 'wakes'>,
  runners: ConnectedRunners,
  live: readonly AskedToStop[],
): void {
  for (const [runner, fences] of byRunner(live)) {
    const connected = runners.get(runner);
    if (connected) connected.send({ type: 'cancel', fences });
    else wakes.tell({ kind: 'cancel', runner, fences });
  }
}

/**
 * Tells a runner again which of its attempts were asked to stop: the first message may have been lost, or have come before the attempt.
 * Attempts that have stopped are not named.
 */
export async function tellCanceled(sql: Queryable, { id, env, held, send }: ConnectedRunner): Promise<void> {
  const asked = await markedCanceled(sql, env);
  const fences = asked
    .filter((one) => one.runner_id === id)
    .map(({ fence }) => Number(fence))
    .filter((fence) => held.has(fence));
  if (fences.length > 0) send({ type: 'cancel', fences });
}

function byRunner(live: readonly AskedToStop[]): Map<string, number[]> {
  const grouped = new Map<string, number[]>();
  for (const { runner_id, fence } of live) {
    const fences = grouped.get(runner_id);
    if (fences) fences.push(Number(fence));
    else grouped.set(runner_id, [Number(fence)]);
  }
  return grouped;
}
