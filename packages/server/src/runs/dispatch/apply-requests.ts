import type { Queryable } from '../../db/connect.ts';
import type { ConnectedRunner } from '../../runners/runners.ts';

/** The requests stored in a runner's row. */
export interface RunnerRequests {
  readonly draining: boolean;
  readonly stopping: boolean;
}

/** Applies the requests to a connected runner. Returns true if it accepts attempts again. */
export function applyRequests(runner: ConnectedRunner, { draining, stopping }: RunnerRequests): boolean {
  const isBack = runner.isDrainRequested && !draining;
  runner.isDrainRequested = draining;
  // The runner reports draining once it has begun to stop. Until then, the message may have been lost.
  if (stopping && !runner.draining) runner.send({ type: 'stop' });
  return isBack;
}

/** The same for the current requests in the database. */
export async function applyCurrentRequests(sql: Queryable, runner: ConnectedRunner): Promise<boolean> {
  const [requests] = await sql<
    RunnerRequests[]
  >`select draining, stopping from runners where id = ${runner.id}`;
  return requests !== undefined && applyRequests(runner, requests);
}
