import type { Queryable } from '../db/connect.ts';
import type { ChannelKey } from './key.ts';

const maxAtOnce = 1_000;

/** Drops the records before number `before`: nobody reads them from then on, and their part ids are forgotten. */
export async function trimChannel(sql: Queryable, key: ChannelKey, before: number): Promise<void> {
  await sql`
    update channels set start_seq = least(next_seq, ${before})
     where id = ${key.id} and start_seq < least(next_seq, ${before})`;
  while ((await dropTrimmed(sql, key.id)) >= maxAtOnce);
}

/** Deletes what lies wholly before the first record that is kept; answers how many rows that were. */
async function dropTrimmed(sql: Queryable, id: string): Promise<number> {
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
