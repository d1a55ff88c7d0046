import type { Sql } from '../db/connect.ts';
import { retainedSince } from './range.ts';

/** An hour of an environment that fails all the time is let go of in several steps. */
const mostAtOnce = 5_000;

/**
 * Thins tallies that are older than the retention: of each hour, fingerprint and version the last one stays. Tallies are running
 * totals, so counts stay what they were. An hour of each environment a call; returns whether there may be more.
 */
export async function thinTallies(sql: Sql, now: Date, retentionMs?: number): Promise<boolean> {
  const since = retainedSince(now, retentionMs);
  const due = await sql<{ env: number; from: Date }[]>`
    select e.id as env, date_bin('1 hour', t.at, 'epoch') as from
      from environments e
     cross join lateral (
       select t.at from error_tallies t
        where t.env = e.id and t.at < ${since}
          and t.at >= coalesce((select h.until from error_thinning h where h.env = e.id), '-infinity')
        order by t.at limit 1) t`;
  for (const { env, from } of due) {
    const until = new Date(from.getTime() + 3_600_000);
    const [thinned] = await sql<{ gone: number }[]>`
      with gone as (
        delete from error_tallies where ctid = any(array(
          select t.ctid from error_tallies t
           where t.env = ${env} and t.at >= ${from} and t.at < ${until}
             and exists (select from error_tallies l
                          where l.env = t.env and l.fingerprint_id = t.fingerprint_id and l.version = t.version
                            and l.at > t.at and l.at < ${until})
           limit ${mostAtOnce}))
        returning fingerprint_id, version, n
      ), left_over as (
        select g.fingerprint_id, g.version, l.at, g.n
          from (select fingerprint_id, version, sum(n)::int as n from gone group by 1, 2) g
         cross join lateral (
           select t.at from error_tallies t
            where t.env = ${env} and t.fingerprint_id = g.fingerprint_id and t.version = g.version
              and t.at >= ${from} and t.at < ${until}
            order by t.at desc limit 1) l
      ), grown as (
        update error_tallies t set n = t.n + l.n from left_over l
         where t.env = ${env} and t.fingerprint_id = l.fingerprint_id and t.version = l.version and t.at = l.at
      )
      select count(*)::int as gone from gone`;
    if (thinned && thinned.gone >= mostAtOnce) continue;
    await sql`
      insert into error_thinning as h (env, until) values (${env}, ${until})
      on conflict (env) do update set until = greatest(h.until, excluded.until)`;
  }
  return due.length > 0;
}
