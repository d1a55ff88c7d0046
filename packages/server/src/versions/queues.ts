import type { TaskManifest } from '@millrace/contract/runner';
import type { Transaction } from '../db/connect.ts';

/** The queue of a task's runs, unless the trigger names another. */
export const queueOf = (task: TaskManifest): string => task.queue?.name ?? `task/${task.id}`;

/** Upserts the queues of tasks with their declared limits. If a limit changed, the lanes that it blocked are checked again. */
export async function declareQueues(
  tx: Transaction,
  env: number,
  tasks: readonly TaskManifest[],
): Promise<void> {
  const limits = new Map<string, number | null>();
  for (const task of tasks) {
    const name = queueOf(task);
    const limit = task.queue?.concurrencyLimit ?? null;
    // Of several tasks with one queue, the lowest declared limit applies.
    const other = limits.get(name);
    limits.set(name, limit === null ? (other ?? null) : Math.min(limit, other ?? limit));
  }
  const names = [...limits.keys()].toSorted();
  const changed = await tx<{ id: number }[]>`
    insert into queues (env, name, concurrency_limit)
    select ${env}, i.name, i.most
      from unnest(${names}::text[], ${names.map((name) => limits.get(name) ?? null)}::int[]) as i (name, most)
    on conflict (env, name) do update set concurrency_limit = excluded.concurrency_limit
      where queues.concurrency_limit is distinct from excluded.concurrency_limit
    returning id`;
  if (changed.length === 0) return;
  await tx`select claim_lock(${env})`;
  await tx`
    update lanes set blocked = false
     where blocked and queue_id = any(${changed.map((queue) => queue.id)}::int[])`;
}
