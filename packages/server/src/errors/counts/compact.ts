import type { Fragment, Queryable, Sql, Transaction } from '../../db/connect.ts';
import { byDayUntil, byHourUntil, defaultAges } from './range.ts';

/** If an environment fails constantly, an hour of it is compacted in several steps. */
const maxAtOnce = 5_000;
/** Rows are retained for longer than promised, for readers with slow clocks. */
const graceMs = 3_600_000;

/**
 * Compacts old tallies: only the last one of each hour, fingerprint and version remains, or of each day if they are very old. Tallies are
 * running totals, so counts do not change. Each call handles one hour and one day of each environment; returns whether there may be more.
 */
export async function compactTallies(sql: Sql, now: Date, ages = defaultAges): Promise<boolean> {
  const then = new Date(now.getTime() - graceMs);
  const hours = await compact(sql, '1 hour', byHourUntil(then, ages));
  const days = await compact(sql, '1 day', byDayUntil(then, ages));
  return hours || days;
}

/** Deletes the hours for which ranges count only days; returns whether there may be more. */
export async function deleteOldHours(sql: Sql, now: Date, ages = defaultAges): Promise<boolean> {
  const before = byDayUntil(new Date(now.getTime() - graceMs), ages);
  const deleted = await sql`
    delete from error_hours where ctid = any(array(
      select h.ctid from environments e
       cross join lateral (
         select x.ctid from error_hours x where x.env = e.id and x.at < ${before} order by x.at limit ${maxAtOnce}) h
       limit ${maxAtOnce}))`;
  return deleted.count >= maxAtOnce;
}

async function compact(sql: Sql, width: '1 hour' | '1 day', before: Date): Promise<boolean> {
  const marker = width === '1 hour' ? sql`hours_until` : sql`days_until`;
  const next = (tx: Queryable, of: Fragment) => tx<{ env: number; from: Date; until: Date }[]>`
    select e.id as env, t.from, t.from + ${width}::interval as until
      from environments e
     cross join lateral (
       select date_bin(${width}::interval, t.at, 'epoch') as from from error_tallies t
        where t.env = e.id and t.at < ${before}
          and t.at >= coalesce((select c.${marker} from error_compaction c where c.env = e.id), '-infinity')
        order by t.at limit 1) t
     where ${of}`;
  const due = await next(sql, sql`true`);
  for (const { env } of due) {
    await sql.begin(async (tx) => {
      await tx`select lock_errors(${env})`;
      const [bucket] = await next(tx, tx`e.id = ${env}`);
      if (!bucket || (await compactSome(tx, bucket))) return;
      await tx`
        insert into error_compaction as c (env, ${marker}) values (${env}, ${bucket.until})
        on conflict (env) do update set ${marker} = excluded.${marker}`;
    });
  }
  return due.length > 0;
}

interface Bucket {
  readonly env: number;
  readonly from: Date;
  readonly until: Date;
}

/** Returns whether there may be more. */
async function compactSome(tx: Transaction, { env, from, until }: Bucket): Promise<boolean> {
  const [gone] = await tx<{ count: number }[]>`
    with gone as (
      delete from error_tallies where ctid = any(array(
        select t.ctid from error_tallies t
         where t.env = ${env} and t.at >= ${from} and t.at < ${until}
           and exists (select from error_tallies l
                        where l.env = t.env and l.fingerprint_id = t.fingerprint_id and l.version = t.version
                          and l.at > t.at and l.at < ${until})
         limit ${maxAtOnce}))
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
    select count(*)::int as count from gone`;
  return (gone?.count ?? 0) >= maxAtOnce;
}
