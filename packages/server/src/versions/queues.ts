import { completeRateLimit, type RateLimit, type SharedLimit } from '@millrace/contract';
import type { TaskManifest } from '@millrace/contract/runner';
import type { Transaction } from '../db/connect.ts';
import { badRequest } from '../problem.ts';

/** The queue of a task's runs, unless the trigger names another. */
export const queueOf = (task: TaskManifest): string => task.queue?.name ?? `task/${task.id}`;

/** The combined declarations of one queue by its tasks. */
interface Declared {
  /** Null means no limit. Of several declared limits, the lowest applies. */
  limit: number | null;
  rate: RateLimit | undefined;
  shared: SharedLimit | undefined;
  weight: number;
  readonly keyWeights: Map<string, number>;
}

function declaredOf(tasks: readonly TaskManifest[]): Map<string, Declared> {
  const queues = new Map<string, Declared>();
  for (const task of tasks) {
    const { concurrencyLimit, rateLimit: rate, concurrency, weight, keyWeights = {} } = task.queue ?? {};
    const limit = concurrencyLimit ?? null;
    const name = queueOf(task);
    const queue = queues.get(name) ?? {
      limit,
      rate: undefined,
      shared: undefined,
      weight: 1,
      keyWeights: new Map(),
    };
    queues.set(name, queue);
    queue.limit = limit === null ? queue.limit : Math.min(limit, queue.limit ?? limit);
    if (rate) queue.rate = slower(rate, queue.rate ?? rate);
    queue.shared ??= concurrency;
    queue.weight = Math.max(queue.weight, weight ?? 1);
    for (const [key, own] of Object.entries(keyWeights))
      queue.keyWeights.set(key, Math.max(own, queue.keyWeights.get(key) ?? 1));
  }
  return queues;
}

/** 400 if a queue would have two shared limits, since it can have only one. */
export function refuseSharedTwice(tasks: readonly TaskManifest[]): void {
  const first = new Map<string, TaskManifest>();
  for (const task of tasks) {
    const name = queueOf(task);
    const other = first.get(name);
    const { concurrency } = task.queue ?? {};
    if (!concurrency) continue;
    if (!other) first.set(name, task);
    else if (other.queue?.concurrency?.name !== concurrency.name) {
      throw badRequest(
        `The queue "${name}" has two shared limits: "${other.queue?.concurrency?.name}" in the task "${other.id}", "${concurrency.name}" in "${task.id}". Declare only one of them.`,
      );
    }
  }
}

/** Upserts the queues of tasks with their declared limits and weights. If a limit changed, the lanes that it blocked are checked again. */
export async function declareQueues(
  tx: Transaction,
  env: number,
  tasks: readonly TaskManifest[],
): Promise<void> {
  const declared = [...declaredOf(tasks)].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const shared = await declareSharedLimits(
    tx,
    env,
    tasks.flatMap((task) => task.queue?.concurrency ?? []),
  );
  const pick = <T>(read: (queue: Declared) => T): T[] => declared.map(([, queue]) => read(queue));
  const changed = await tx<{ id: number }[]>`
    insert into queues (env, name, concurrency_limit, rate_limit, shared_limit_id, weight)
    select ${env}, i.name, i.concurrency_limit, i.rate, i.shared, i.weight
      from unnest(${declared.map(([name]) => name)}::text[], ${pick(({ limit }) => limit)}::int[],
                  ${pick(({ rate }) => rateText(rate))}::jsonb[],
                  ${pick((queue) => (queue.shared && shared.get(queue.shared.name)) ?? null)}::int[],
                  ${pick(({ weight }) => weight)}::int[]) as i (name, concurrency_limit, rate, shared, weight)
    on conflict (env, name) do update
      set concurrency_limit = excluded.concurrency_limit, rate_limit = excluded.rate_limit,
          shared_limit_id = excluded.shared_limit_id, weight = excluded.weight, is_declared = true
      where not queues.is_declared or (queues.concurrency_limit, queues.rate_limit, queues.shared_limit_id, queues.weight)
            is distinct from (excluded.concurrency_limit, excluded.rate_limit, excluded.shared_limit_id, excluded.weight)
    returning id`;
  await declareKeyWeights(tx, env, declared);
  if (changed.length === 0) return;
  const ids = changed.map((queue) => queue.id);
  await tx`select claim_lock(${env})`;
  await tx`update queue_starts set due = null where queue_id = any(${ids}::int[]) and due is not null`;
  await tx`
    update lanes set blocked = false, rate_limited_at = null, ring = 0
     where queue_id = any(${ids}::int[]) and (blocked or ring <> 0)`;
  await tx`
    delete from shared_limits s
     where s.env = ${env} and not exists (select from queues q where q.shared_limit_id = s.id)`;
}

/** The ids of these limits, by name. Of several limits with the same name, the lowest applies. */
async function declareSharedLimits(
  tx: Transaction,
  env: number,
  limits: readonly SharedLimit[],
): Promise<Map<string, number>> {
  const lowest = new Map<string, number>();
  for (const { name, limit } of limits) lowest.set(name, Math.min(limit, lowest.get(name) ?? limit));
  if (lowest.size === 0) return new Map();
  const names = [...lowest.keys()].toSorted();
  const rows = await tx<{ id: number; name: string }[]>`
    insert into shared_limits as s (env, name, slots)
    select ${env}, i.name, i.slots
      from unnest(${names}::text[], ${names.map((name) => lowest.get(name) ?? 0)}::int[]) as i (name, slots)
    on conflict (env, name) do update set slots = excluded.slots
    returning id, name`;
  return new Map(rows.map(({ id, name }) => [name, id]));
}

/** Writes the declared weights of individual keys. Weights set by users are kept. */
async function declareKeyWeights(
  tx: Transaction,
  env: number,
  declared: readonly (readonly [string, Declared])[],
): Promise<void> {
  const names = declared.map(([name]) => name);
  const rows = declared.flatMap(([name, { keyWeights }]) =>
    [...keyWeights].map(([key, weight]) => ({ name, key, weight })),
  );
  await tx`
    with declared as materialized (
      select q.id as queue_id, i.key, i.weight
        from unnest(${rows.map(({ name }) => name)}::text[], ${rows.map(({ key }) => key)}::text[],
                    ${rows.map(({ weight }) => weight)}::int[]) as i (name, key, weight)
        join queues q on q.env = ${env} and q.name = i.name
    ), of_queues as materialized (
      select q.id from queues q where q.env = ${env} and q.name = any(${names}::text[]) and (q.has_key_weights or q.id in (select queue_id from declared))
    ), gone as (
      delete from key_weights k using of_queues q
       where k.queue_id = q.id and k.weight_override is null
         and not exists (select from declared d where d.queue_id = k.queue_id and d.key = k.key)
    ), undeclared as (
      update key_weights k set weight = null from of_queues q
       where k.queue_id = q.id and k.weight_override is not null and k.weight is not null
         and not exists (select from declared d where d.queue_id = k.queue_id and d.key = k.key)
    ), written as (
      insert into key_weights (env, queue_id, key, weight) select ${env}, d.queue_id, d.key, d.weight from declared d
      on conflict (queue_id, key) do update set weight = excluded.weight
    )
    update queues set has_key_weights = true where id in (select queue_id from declared) and not has_key_weights`;
}

/** If several tasks declare one queue, the slowest rate applies, or the smaller burst if the rates are equal. */
function slower(first: RateLimit, second: RateLimit): RateLimit {
  const rates = [first, second].toSorted(
    (a, b) => a.limit / a.period - b.limit / b.period || (a.burst ?? a.limit) - (b.burst ?? b.limit),
  );
  return rates[0] ?? first;
}

const rateText = (rate: RateLimit | undefined): string | null =>
  rate ? JSON.stringify(completeRateLimit(rate)) : null;
