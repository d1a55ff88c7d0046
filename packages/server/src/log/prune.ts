import type { Clock } from '../db/clock.ts';
import type { Fragment, Sql } from '../db/connect.ts';

const maxAtOnce = 500;

/**
 * The job that lets go of records that are older than the retention, of run streams that nothing is left of, and of what deleted
 * channels left behind. What a run wrote is kept while it lives, however long it waits: there the retention counts from its end.
 */
export const channelPruner = (sql: Sql, clock: Pick<Clock, 'now'>, retentionMs: number) => ({
  name: 'channel pruner',
  everyMs: 60_000,
  async tick(): Promise<boolean> {
    const before = new Date(clock.now() - retentionMs);
    // Times of a channel never go back, so what is old is at its front.
    const old = await sql`
      with old as (
        select s.ctid as place, s.channel, s.seq + s.count as next from channel_segments s
         where s.at < ${before} and ${isNobodys(sql, sql`s.channel`, before)} limit ${maxAtOnce}
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
        select o.ctid from channels o
         where o.session_id is null and o.created_at < ${before} and o.start_seq = o.next_seq
           and (o.last_at is null or o.last_at < ${before}) and ${isNobodys(sql, sql`o.id`, before)}
         order by o.created_at limit ${maxAtOnce} for update skip locked))`;
    return old.count >= maxAtOnce || empty.count >= maxAtOnce;
  },
});

/**
 * Whether no run that lives, or ended after that time, writes to a channel. Run streams are named `r/<run>/<stream>`. A subquery with a
 * limit: it is asked of the few rows that are old, and never made a join with all runs.
 */
const isNobodys = (sql: Sql, channel: Fragment, before: Date) => sql`
  coalesce((select r.finished_at < ${before} and r.finished_at is not null
              from channels c join runs r on r.env = c.env and r.id = split_part(c.name, '/', 2)
             where c.id = ${channel} and c.session_id is null limit 1), true)`;
