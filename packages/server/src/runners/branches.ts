import type { Queryable } from '../db/connect.ts';
import type { ConnectedRunner } from './runners.ts';

/** Sends the list of branches to a runner that connects for each branch of its environment, if the list has changed. */
export async function sendBranches(sql: Queryable, runner: ConnectedRunner): Promise<void> {
  if (runner.branches === undefined) return;
  const rows = await sql<{ branch: string }[]>`
    select branch from environments where parent_id = ${runner.env} and archived_at is null order by id`;
  const branches = rows.map(({ branch }) => branch);
  const serialized = JSON.stringify(branches);
  if (serialized === runner.branches) return;
  runner.branches = serialized;
  runner.send({ type: 'branches', branches });
}
