import { retryOnConflict } from '../../db/retry.ts';
import type { Queryable } from '../../db/connect.ts';
import type { ConnectedRunner, ConnectedRunners } from '../../runners/runners.ts';
import type { Engine } from '../engine/engine.ts';

/**
 * Cancels a run and its descendants. Waiting runs end immediately. A live attempt receives a stop signal through its runner, regardless of
 * which process that is connected to, and ends as CANCELED when it has stopped. A run with a final status is left unchanged. Returns false
 * if the run does not exist.
 */
export async function cancelRun(
  engine: Engine,
  runners: ConnectedRunners,
  env: number,
  run: string,
): Promise<boolean> {
  const { sql, clock } = engine;
  // Locking a whole tree may deadlock with runs in the tree that begin to wait or end.
  const live = await retryOnConflict(() => markCanceled(sql, env, run, new Date(clock.now())));
  notifyRunners(engine, runners, live);
  if (live.length === 0) {
    const [row] = await sql`select from runs where env = ${env} and id = ${run}`;
    if (!row) return false;
  }
  // The affected descendants are not known here.
  engine.changes.someChanged(env);
  engine.changes.changed(env, [run]);
  return true;
}

/** An attempt that must stop, but whose runner has not been notified yet. */
export interface StoppingAttempt {
  readonly runner_id: string;
  readonly fence: string;
}

/** The database part of a cancellation. Runners must be notified after the commit. It may lose a deadlock (see db/retry.ts). */
export const markCanceled = (
  sql: Queryable,
  env: number,
  run: string,
  at: Date,
): Promise<StoppingAttempt[]> => sql<StoppingAttempt[]>`select * from cancel_runs(${env}, ${run}, ${at})`;

/** Live attempts of an environment that have a stop signal and have not stopped yet. */
export const markedCanceled = (sql: Queryable, env: number): Promise<StoppingAttempt[]> =>
  sql<StoppingAttempt[]>`
    select runner_id, fence from leases where env = ${env} and cancel_requested
    union all
    select runner_id, fence from suspended where env = ${env} and cancel_requested and runner_id is not null`;

/** Sends a cancellation to the runners that execute the attempts, regardless of which process they are connected to. */
export function notifyRunners(
  { wakes }: Pick<Engine, 'wakes'>,
  runners: ConnectedRunners,
  live: readonly StoppingAttempt[],
): void {
  for (const [runner, fences] of byRunner(live)) {
    const connected = runners.get(runner);
    if (connected) connected.send({ type: 'cancel', fences });
    else wakes.notify({ kind: 'cancel', runner, fences });
  }
}

/**
 * Sends the stop signals of a runner's attempts again, because the first message may have been lost, or have arrived before the attempt.
 * Attempts that have stopped are not included.
 */
export async function notifyCanceled(
  sql: Queryable,
  { id, env, leased, send }: ConnectedRunner,
): Promise<void> {
  const stopping = await markedCanceled(sql, env);
  const fences = stopping
    .filter((attempt) => attempt.runner_id === id)
    .map(({ fence }) => Number(fence))
    .filter((fence) => leased.has(fence));
  if (fences.length > 0) send({ type: 'cancel', fences });
}

function byRunner(live: readonly StoppingAttempt[]): Map<string, number[]> {
  const grouped = new Map<string, number[]>();
  for (const { runner_id, fence } of live) {
    const fences = grouped.get(runner_id);
    if (fences) fences.push(Number(fence));
    else grouped.set(runner_id, [Number(fence)]);
  }
  return grouped;
}
