import type { Sql } from '../db/connect.ts';

const pageSize = 200;
const enoughDeleted = 20;

interface Looked {
  /** A string, because a Date has no microseconds. */
  readonly at: string;
  readonly env: number;
  readonly id: string;
  readonly gone: boolean;
}

/**
 * Deletes batches that were created before a time and have no runs left. Batches of environments with a longer retention remain; each call
 * reads the next page of them. Returns whether the next call should follow immediately.
 */
export function createForget(sql: Sql): (before: Date) => Promise<boolean> {
  let cursor: Pick<Looked, 'at' | 'env' | 'id'> | undefined;

  return async (before) => {
    const looked = await sql<Looked[]>`
      with page as materialized (
        select b.created_at, b.env, b.id, b.sealed_at from batches b
         where (b.sealed_at is not null or b.aborted_at is not null) and b.created_at < ${before}
           and (b.created_at, b.env, b.id)
               > (${cursor?.at ?? '-infinity'}::timestamptz, ${cursor?.env ?? 0}::int, ${cursor?.id ?? ''}::text collate "C")
         order by b.created_at, b.env, b.id limit ${pageSize}
      ), gone as (
        delete from batches b using page p
         where b.env = p.env and b.id = p.id
           and not exists (
             select from runs r where r.env = p.env and r.id >= batch_prefix(p.id) and r.id < batch_prefix(p.id) || '~')
           and (p.sealed_at is null or is_batch_over(p.env, p.id))
        returning b.env, b.id
      ), links as (
        delete from batch_cached c using gone g
         where c.env = g.env and c.item_id >= batch_prefix(g.id) and c.item_id < batch_prefix(g.id) || '~'
      )
      select p.created_at::text as at, p.env, p.id, g.id is not null as gone
        from page p left join gone g on g.env = p.env and g.id = p.id
       order by p.created_at, p.env, p.id`;
    cursor = looked.length < pageSize ? undefined : looked.at(-1);
    return looked.filter(({ gone }) => gone).length >= enoughDeleted;
  };
}
