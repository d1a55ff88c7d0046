import type { Operations, Query, Reply } from '@millrace/contract';
import type { Queryable } from '../db/connect.ts';
import { requestedPageById, pageOf } from '../page.ts';
import { countsOf, listedOf, type BatchRowWithCounts } from './retrieve.ts';

/**
 * Newest first: ids begin with the time. The runs of each batch are one range of at most 1,000 ids; runs that an idempotency key resolved
 * to are looked up one by one.
 */
export async function listBatches(
  sql: Queryable,
  env: number,
  query: Query<Operations['listBatches']>,
): Promise<Reply<Operations['listBatches']>> {
  const requested = requestedPageById(query, { pattern: /^batch_[0-9a-z]{1,60}$/, what: 'a batch' });
  const { size, cursor, backward } = requested;
  const beyond = cursor === undefined ? sql`` : backward ? sql`and id > ${cursor}` : sql`and id < ${cursor}`;
  const rows = await sql<BatchRowWithCounts[]>`
    select b.id, b.run_count, b.received, b.parent_run_id, b.idempotency_key, b.idempotency_key_options, b.created_at,
           b.sealed_at, b.aborted_at, x.*
      from (
        select * from batches where env = ${env} ${beyond}
         order by ${backward ? sql`id` : sql`id desc`} limit ${size + 1}
      ) b
      cross join lateral (
        select ${countsOf(sql)}
          from (
            select r.id, r.status, r.finished_at from runs r
             where r.env = b.env and r.id >= batch_prefix(b.id) and r.id < batch_prefix(b.id) || '~'
            union all
            select l.id, l.status, l.finished_at from batch_cached c
             cross join lateral (
               -- The limit ensures a lookup, so that no plan reads all runs.
               select r.id, r.status, r.finished_at from runs r where r.env = c.env and r.id = c.run_id limit 1
             ) l
             where c.env = b.env and c.item_id >= batch_prefix(b.id) and c.item_id < batch_prefix(b.id) || '~'
          ) r
      ) x
     order by ${backward ? sql`b.id` : sql`b.id desc`}`;
  const { page, pagination } = pageOf(rows, requested);
  return { data: page.map(listedOf), pagination };
}
