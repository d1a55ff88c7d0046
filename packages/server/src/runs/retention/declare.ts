import type { TaskManifest } from '@millrace/contract/runner';
import type { Transaction } from '../../db/connect.ts';

/**
 * Stores the retention that the tasks of a version declare, in the transaction that makes it current. A task that no longer declares one
 * follows the environment again; a task that the version lacks is unchanged.
 */
export async function declareRetention(
  tx: Transaction,
  env: number,
  tasks: readonly TaskManifest[],
): Promise<void> {
  const declared = tasks.flatMap(({ id, retention }) => (retention ? [{ id, ...retention }] : []));
  const others = tasks.flatMap(({ id, retention }) => (retention ? [] : [id]));
  await tx`delete from task_retention where env = ${env} and task = any(${others}::text[])`;
  if (declared.length === 0) return;
  await tx`
    insert into task_retention (env, task, completed, failed, canceled)
    select ${env}, i.* from unnest(
        ${declared.map(({ id }) => id)}::text[], ${declared.map(({ completed }) => completed ?? null)}::int[],
        ${declared.map(({ failed }) => failed ?? null)}::int[], ${declared.map(({ canceled }) => canceled ?? null)}::int[]) as i
     order by 2
    on conflict (env, task) do update
       set completed = excluded.completed, failed = excluded.failed, canceled = excluded.canceled`;
}
