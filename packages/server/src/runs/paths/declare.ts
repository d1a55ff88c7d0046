import { maxRunPaths } from '@millrace/contract';
import type { TaskManifest } from '@millrace/contract/runner';
import type { Transaction } from '../../db/connect.ts';
import { unprocessable } from '../../problem.ts';

/**
 * Declares paths of an environment. Paths that are already declared are ignored. Returns the new ones. 422 beyond the limit.
 * @param field the field that the caller must change
 */
export async function declarePaths(
  tx: Transaction,
  env: number,
  paths: readonly string[],
  now: number,
  field: string,
): Promise<string[]> {
  // Concurrent declarations are serialized, so that the limit holds.
  await tx`select from environments where id = ${env} for no key update`;
  const rows = await tx<{ path: string }[]>`
    insert into run_paths (env, path, created_at)
    select ${env}, p.path, ${new Date(now)} from unnest(${paths}::text[]) as p (path) order by p.path
    on conflict do nothing returning path`;
  const [{ count } = { count: 0 }] = await tx<{ count: number }[]>`
    select count(*)::int as count from run_paths where env = ${env}`;
  if (count > maxRunPaths)
    throw unprocessable(
      `${field}: an environment has at most ${maxRunPaths} declared paths. Remove one first: millrace runs paths remove <path>`,
      'limit_reached',
    );
  return rows.map(({ path }) => path);
}

/**
 * Declares the paths that runs of the tasks can be found by, in the transaction that makes their version current. Paths that tasks no
 * longer name remain.
 */
export async function declareFindBy(
  tx: Transaction,
  env: number,
  tasks: readonly TaskManifest[],
  now: number,
): Promise<void> {
  const paths = [...new Set(tasks.flatMap(({ findBy = [] }) => findBy))];
  if (paths.length > 0) await declarePaths(tx, env, paths, now, 'findBy');
}
