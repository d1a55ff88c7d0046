import type { Queryable } from '../db/connect.ts';
import type { ChannelKey } from './key.ts';

const maxAtOnce = 1_000;

/** Drops the records before number `before`, with their part ids. */
export async function trimChannel(sql: Queryable, key: ChannelKey, before: number): Promise<void> {
  await sql`
    update channels set start_seq = least(next_seq, ${before})
     where id = ${key.id} and start_seq < least(next_seq, ${before})`;
  while ((await deleteTrimmed(sql, key.id)) >= maxAtOnce);
}

/** Deletes the rows that are entirely before the first retained record. Resolves with their number. */
async function deleteTrimmed(sql: Queryable, id: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    with log as (select id, start_seq from channels where id = ${id}),
    gone as (
      delete from channel_segments g where g.ctid = any (array(
        select s.ctid from log l join channel_segments s on s.channel = l.id and s.seq + s.count <= l.start_seq and s.seq < l.start_seq
         order by s.seq limit ${maxAtOnce}))
      returning 1
    ), forgotten as (
      delete from channel_parts g where g.ctid = any (array(
        select p.ctid from log l join channel_parts p on p.channel = l.id and p.seq + p.count <= l.start_seq
         limit ${maxAtOnce}))
      returning 1
    )
    select greatest((select count(*) from gone), (select count(*) from forgotten))::int as count`;
  return row?.count ?? 0;
}
