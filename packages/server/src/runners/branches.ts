import type { Queryable } from '../db/connect.ts';
import type { ConnectedRunner } from './runners.ts';

/** Tells a runner that connects for each branch of its environment which there are, if they are others than it was told before. */
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
