import { completeRateLimit, type RateLimit } from '@millrace/contract';
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
  const rates = new Map<string, RateLimit>();
  for (const task of tasks) {
    const name = queueOf(task);
    const limit = task.queue?.concurrencyLimit ?? null;
    // Of several tasks with one queue, the lowest declared limit applies.
    const other = limits.get(name);
    limits.set(name, limit === null ? (other ?? null) : Math.min(limit, other ?? limit));
    const rate = task.queue?.rateLimit;
    if (rate) rates.set(name, slower(rate, rates.get(name) ?? rate));
  }
  const names = [...limits.keys()].toSorted();
  const changed = await tx<{ id: number }[]>`
    insert into queues (env, name, concurrency_limit, rate_limit)
    select ${env}, i.name, i.most, i.rate
      from unnest(${names}::text[], ${names.map((name) => limits.get(name) ?? null)}::int[],
                  ${names.map((name) => rateText(rates.get(name)))}::jsonb[]) as i (name, most, rate)
    on conflict (env, name) do update set concurrency_limit = excluded.concurrency_limit, rate_limit = excluded.rate_limit
      where queues.concurrency_limit is distinct from excluded.concurrency_limit
         or queues.rate_limit is distinct from excluded.rate_limit
    returning id`;
  if (changed.length === 0) return;
  const ids = changed.map((queue) => queue.id);
  await tx`select claim_lock(${env})`;
  await tx`update queue_starts set due = null where queue_id = any(${ids}::int[]) and due is not null`;
  await tx`update lanes set blocked = false, held_at = null where blocked and queue_id = any(${ids}::int[])`;
}

/** Of several tasks with one queue, the slowest declared rate applies; of equal ones, the smaller burst. */
function slower(one: RateLimit, other: RateLimit): RateLimit {
  const rates = [one, other].toSorted(
    (a, b) => a.limit / a.period - b.limit / b.period || (a.burst ?? a.limit) - (b.burst ?? b.limit),
  );
  return rates[0] ?? one;
}

const rateText = (rate: RateLimit | undefined): string | null =>
  rate ? JSON.stringify(completeRateLimit(rate)) : null;
