import type { Clock } from '../db/clock.ts';
import type { Sql } from '../db/connect.ts';

const mostAtOnce = 500;

/**
 * The duty that lets go of records that are older than the retention, of run streams that nothing is left of, and of what deleted
 * channels left behind.
 */
export const channelPruner = (sql: Sql, clock: Pick<Clock, 'now'>, retentionMs: number) => ({
  name: 'channel pruner',
  everyMs: 60_000,
  async round(): Promise<boolean> {
    const before = new Date(clock.now() - retentionMs);
    // Times of a channel never go back, so what is old is at its front.
    const old = await sql`
      with old as (
        select s.ctid as place, s.channel, s.seq + s.count as next from channel_segments s where s.at < ${before} limit ${mostAtOnce}
      ), trimmed as (
        update channels c set start_seq = greatest(c.start_seq, o.next)
          from (select channel, max(next) as next from old group by channel order by channel) o where c.id = o.channel
      ), forgotten as (
        delete from channel_parts p using old o
         where p.channel = o.channel and p.seq < o.next
      )
      delete from channel_segments s using old o where s.ctid = o.place`;
    const empty = await sql`
      delete from channels where ctid = any (array(
        select ctid from channels
         where session_id is null and created_at < ${before} and start_seq = next_seq
           and (last_at is null or last_at < ${before})
         order by created_at limit ${mostAtOnce} for update skip locked))`;
    return old.count >= mostAtOnce || empty.count >= mostAtOnce;
  },
});
