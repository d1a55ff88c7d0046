import type { Queryable } from '../../db/connect.ts';
import type { ConnectedRunner } from '../../runners/runners.ts';

/** What the row of a runner says that somebody asked of it. */
export interface Asked {
  readonly draining: boolean;
  readonly stopping: boolean;
}

/** Does what somebody asked of a connected runner. True if it takes attempts again. */
export function heed(runner: ConnectedRunner, { draining, stopping }: Asked): boolean {
  const isBack = runner.isHeldBack && !draining;
  runner.isHeldBack = draining;
  // It says that it drains when it has begun to stop. Until then the message may have been lost.
  if (stopping && !runner.draining) runner.send({ type: 'stop' });
  return isBack;
}

/** The same for what the database says now. */
export async function heedNow(sql: Queryable, runner: ConnectedRunner): Promise<boolean> {
  const [asked] = await sql<Asked[]>`select draining, stopping from runners where id = ${runner.id}`;
  return asked !== undefined && heed(runner, asked);
}
