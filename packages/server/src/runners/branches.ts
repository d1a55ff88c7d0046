import type { Queryable } from '../db/connect.ts';
import type { ConnectedRunner } from './runners.ts';

/** Sends the list of branches to a runner that connects for each branch of its environment, if the list has changed. */
export async function tellBranches(sql: Queryable, runner: ConnectedRunner): Promise<void> {
  if (runner.branches === undefined) return;
  const rows = await sql<{ branch: string }[]>`
    select branch from environments where parent_id = ${runner.env} and archived_at is null order by id`;
  const branches = rows.map(({ branch }) => branch);
  const told = JSON.stringify(branches);
  if (told === runner.branches) return;
  runner.branches = told;
  runner.send({ type: 'branches', branches });
}
