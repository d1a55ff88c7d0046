import type { Clock } from '../db/clock.ts';
import type { Fragment, Sql } from '../db/connect.ts';

const maxAtOnce = 500;

/**
 * The background job that deletes records older than the retention, empty run streams, and the records and parts of deleted channels. The
 * retention of a run's records counts from the run's end.
 */
export const channelPruner = (sql: Sql, clock: Pick<Clock, 'now'>, retentionMs: number) => ({
  name: 'channel pruner',
  everyMs: 60_000,
  async tick(): Promise<boolean> {
    const before = new Date(clock.now() - retentionMs);
    // Times within a channel never decrease, so old records are its first ones.
    const old = await sql`
      with old as (
        select s.ctid as row_id, s.channel, s.seq + s.count as next from channel_segments s
         where s.at < ${before} and ${hasNoLiveRun(sql, sql`s.channel`, before)} limit ${maxAtOnce}
      ), trimmed as (
        update channels c set start_seq = greatest(c.start_seq, o.next)
          from (select channel, max(next) as next from old group by channel order by channel) o where c.id = o.channel
      ), forgotten as (
        delete from channel_parts p using old o
         where p.channel = o.channel and p.seq < o.next
      )
      delete from channel_segments s using old o where s.ctid = o.row_id`;
    const empty = await sql`
      delete from channels where ctid = any (array(
        select o.ctid from channels o
         where o.session_id is null and o.created_at < ${before} and o.start_seq = o.next_seq
           and (o.last_at is null or o.last_at < ${before}) and ${hasNoLiveRun(sql, sql`o.id`, before)}
         order by o.created_at limit ${maxAtOnce} for update skip locked))`;
    return old.count >= maxAtOnce || empty.count >= maxAtOnce;
  },
});

/**
 * Whether a channel belongs to no run, or to one that ended before `before`. Run streams are named `r/<run>/<stream>`, input streams
 * `i/<run>/<stream>`. The subquery has a limit, so that it runs only for the few old rows instead of being planned as a join with all runs.
 */
const hasNoLiveRun = (sql: Sql, channel: Fragment, before: Date) => sql`
  coalesce((select r.finished_at < ${before} and r.finished_at is not null
              from channels c join runs r on r.env = c.env and r.id = split_part(c.name, '/', 2)
             where c.id = ${channel} and c.session_id is null limit 1), true)`;
