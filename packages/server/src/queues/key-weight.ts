import type { RecordHere } from '../audit/record.ts';
import type { Transaction } from '../db/connect.ts';

interface OfQueue {
  readonly env: number;
  readonly queue: number;
  readonly name: string;
  readonly record?: RecordHere | undefined;
}

/** Sets the weight of a concurrency key, or with null returns to the declared one. The caller holds the queue and the claim lock. */
export async function setKeyWeight(
  tx: Transaction,
  { env, queue, name, record }: OfQueue,
  { key, weight }: { readonly key: string; readonly weight: number | null },
): Promise<void> {
  const [old] = await tx<{ weight: number | null; override: number | null }[]>`
    select weight, weight_override as override from key_weights where queue_id = ${queue} and key = ${key}`;
  if ((old?.override ?? null) === weight) return;
  if (weight === null && old?.weight === null)
    await tx`delete from key_weights where queue_id = ${queue} and key = ${key}`;
  else
    await tx`
      insert into key_weights (env, queue_id, key, weight_override) values (${env}, ${queue}, ${key}, ${weight})
      on conflict (queue_id, key) do update set weight_override = excluded.weight_override`;
  await tx`update queues set has_key_weights = true where id = ${queue} and not has_key_weights`;
  const act = weight === null ? 'queue.keyWeightReset' : 'queue.keyWeightSet';
  await record?.(tx, {
    act,
    target: `queue_${queue}`,
    old: { key, weight: old?.override ?? old?.weight ?? null },
    new: { name, key, weight },
  });
}
