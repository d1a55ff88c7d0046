import type { Queryable, Sql } from '../db/connect.ts';
import { retainedSince } from './range.ts';

const mostGroupsAtOnce = 100;
const mostLookedAt = 2_000;

/**
 * Lets go of occurrences that are older than the retention. How many there were by the end of each hour, in all and of each version,
 * is kept in their place, so counts stay what they were. A batch of groups a call; returns whether there may be more.
 */
export function pruneOccurrences(sql: Sql, now: Date, retentionMs?: number): Promise<boolean> {
  const since = retainedSince(now, retentionMs);
  return sql.begin(async (transaction) => {
    // Locked in the order in which failures lock them.
    const groups = await transaction<{ env: number; id: string }[]>`
      with due as materialized (
        select distinct o.env, o.group_id
          from environments e
         cross join lateral (select o.env, o.group_id from error_occurrences o
                              where o.env = e.id and o.at < ${since} order by o.at limit ${mostLookedAt}) o
      )
      select g.env, g.id from due join error_groups g on g.env = due.env and g.id = due.group_id
       order by g.env, g.id limit ${mostGroupsAtOnce} for update of g`;
    if (groups.length === 0) return false;
    const batch = transaction`
      unnest(${groups.map((group) => group.env)}::int[], ${groups.map((group) => group.id)}::text[]) as b (env, group_id)`;
    await transaction`
      insert into error_tallies (env, group_id, version, at, total)
      select h.env, h.group_id, h.version, h.at, errors_until(h.env, h.group_id, h.version, h.at)
        from (select distinct o.env, o.group_id, v.version, ${endOfHour(transaction)} as at
                from ${batch}
                join error_occurrences o on o.env = b.env and o.group_id = b.group_id and o.at < ${since}
               cross join lateral unnest(array[0, o.version]) as v (version)) h
      on conflict do nothing`;
    await transaction`
      delete from error_occurrences o using ${batch} where o.env = b.env and o.group_id = b.group_id and o.at < ${since}`;
    await transaction`
      delete from error_tallies o using ${batch}
       where o.env = b.env and o.group_id = b.group_id and o.at < ${since} and o.at <> ${endOfHour(transaction)}`;
    // The end of an hour may be later than the newest tally of a group that has been quiet since.
    await transaction`
      update error_groups g set tallied_at = t.at, tallied_total = t.total
        from ${batch}
       cross join lateral (select t.at, t.total from error_tallies t
                            where t.env = b.env and t.group_id = b.group_id and t.version = 0
                            order by t.at desc limit 1) t
       where g.env = b.env and g.id = b.group_id and (g.tallied_at is null or g.tallied_at < t.at)`;
    return true;
  });
}

/** The last moment of the hour of `o.at`. */
const endOfHour = (sql: Queryable) =>
  sql`(date_bin('1 hour', o.at, 'epoch') + interval '59 minutes 59.999 seconds')`;
