import type { Transaction } from '../db/connect.ts';
import type { Batches } from './batch.ts';
import { createForget } from './forget.ts';

/** How long a batch may remain unfilled before it is aborted. */
export const abandonedMs = 24 * 3_600_000;
const maxAtOnce = 20;

/** Aborts an open batch: its runs are cancelled, and no more items are accepted. */
export async function abortBatch(tx: Transaction, env: number, batch: string, now: number): Promise<void> {
  const at = new Date(now);
  // Waits for an upload in progress. Only the next statement sees the rows it wrote.
  await tx`select from batches where env = ${env} and id = ${batch} for no key update`;
  await tx`
    with gone as (
      update batches set aborted_at = ${at}
       where env = ${env} and id = ${batch} and sealed_at is null and aborted_at is null
      returning env, id
    ), ended as (
      update runs r set status = 'CANCELED', finished_at = ${at}, updated_at = ${at}
        from gone g
       where r.env = g.env and r.id >= batch_prefix(g.id) and r.id < batch_prefix(g.id) || '~' and r.status is null
      returning r.env, r.id, r.task, r.queue_id
    ), counted as (
      insert into run_stat_arrivals (env, task, queue_id, what, at, n)
      select e.env, e.task, e.queue_id, 'canceled', ${at}, count(*) from ended e group by e.env, e.task, e.queue_id
    )
    select record_facets(array_agg(e.env), array_agg(f.facet), array_agg(e.id))
      from ended e cross join lateral unnest(array[facet_of('status', 'CANCELED'), facet_of('task_status', 'CANCELED:' || e.task)]) as f (facet)
    having count(*) > 0`;
}

/** The job that aborts batches that were never filled, and deletes those whose runs are gone. */
export function batchKeeper({ sql, clock }: Pick<Batches, 'sql' | 'clock'>, retentionMs: number) {
  const forget = createForget(sql);
  return {
    name: 'batch keeper',
    everyMs: 60_000,
    async tick(): Promise<boolean> {
      const now = clock.now();
      const open = await sql<{ env: number; id: string }[]>`
        select env, id from batches
         where sealed_at is null and aborted_at is null and created_at < ${new Date(now - abandonedMs)}
         order by created_at limit ${maxAtOnce}`;
      for (const { env, id } of open) await sql.begin((tx) => abortBatch(tx, env, id, now));
      const more = await forget(new Date(now - retentionMs));
      return open.length >= maxAtOnce || more;
    },
  };
}
