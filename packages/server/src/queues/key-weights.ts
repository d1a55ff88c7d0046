import type { Operations, Query, Reply, KeyWeightResponse } from '@millrace/contract';
import type { Queryable } from '../db/connect.ts';
import { onwardPage } from '../page.ts';
import { shownAs } from './find.ts';

interface Row {
  readonly id: number;
  readonly name: string;
  readonly key: string;
  readonly base: number | null;
  readonly override: number | null;
}

/** A page of the concurrency keys of an environment that have their own weight. The cursor is the queue and key of the last one. */
export async function listKeyWeights(
  sql: Queryable,
  env: number,
  { 'page[size]': size, 'page[after]': after = '0.' }: Query<Operations['listKeyWeights']>,
): Promise<Reply<Operations['listKeyWeights']>> {
  const [, queue = '0', key = ''] = /^(\d+)\.(.*)$/s.exec(after) ?? [];
  const rows = await sql<Row[]>`
    select q.id, q.name, k.key, k.weight as base, k.weight_override as override
      from queues q join key_weights k on k.queue_id = q.id
     where q.env = ${env} and q.has_key_weights and (k.queue_id, k.key) > (${Number(queue)}, ${key})
     order by k.queue_id, k.key limit ${size + 1}`;
  const { page, pagination } = onwardPage(rows, size, (last) => `${last.id}.${last.key}`);
  return { data: page.map(shownOf), pagination };
}

function shownOf({ name, key, base, override }: Row): KeyWeightResponse {
  const { name: queue, type } = shownAs(name);
  // At least one of the two is set.
  return { queue, type, key, weight: override ?? base ?? 1, base, override };
}
