import type { ConnectedRunners } from '../workers/runners.ts';
import type { Engine } from './engine.ts';

/**
 * Cancels a run and its descendants. What waits ends at once; a live attempt is asked to stop through its runner, wherever that is
 * connected, and ends CANCELED when it has. A final run stays as it is. False if there is no such run.
 */
export async function cancelRun(
  engine: Engine,
  runners: ConnectedRunners,
  env: number,
  run: string,
): Promise<boolean> {
  const { sql, clock, wakes } = engine;
  const live = await sql<{ runner_id: string; fence: string }[]>`
    select * from cancel_runs(${env}, ${run}, ${new Date(clock.now())})`;
  for (const [runner, fences] of byRunner(live)) {
    const connected = runners.get(runner);
    if (connected) connected.send({ type: 'cancel', fences });
    else wakes.tell({ kind: 'cancel', runner, fences });
  }
  if (live.length > 0) return true;
  const [row] = await sql`select from runs where env = ${env} and id = ${run}`;
  return row !== undefined;
}

function byRunner(live: readonly { runner_id: string; fence: string }[]): Map<string, number[]> {
  const grouped = new Map<string, number[]>();
  for (const { runner_id, fence } of live) {
    const fences = grouped.get(runner_id);
    if (fences) fences.push(Number(fence));
    else grouped.set(runner_id, [Number(fence)]);
  }
  return grouped;
}
