import type { Queryable } from '../../db/connect.ts';
import type { ConnectedRunner } from '../../runners/runners.ts';

/** The requests stored in a runner's row. */
export interface Asked {
  readonly draining: boolean;
  readonly stopping: boolean;
}

/** Applies the requests to a connected runner. Returns true if it accepts attempts again. */
export function heed(runner: ConnectedRunner, { draining, stopping }: Asked): boolean {
  const isBack = runner.isHeldBack && !draining;
  runner.isHeldBack = draining;
  // The runner reports that it drains once it has begun to stop. Until then the message may have been lost.
  if (stopping && !runner.draining) runner.send({ type: 'stop' });
  return isBack;
}

/** The same for the current requests in the database. */
export async function heedNow(sql: Queryable, runner: ConnectedRunner): Promise<boolean> {
  const [asked] = await sql<Asked[]>`select draining, stopping from runners where id = ${runner.id}`;
  return asked !== undefined && heed(runner, asked);
}
