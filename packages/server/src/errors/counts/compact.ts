import type { Fragment, Queryable, Sql, Transaction } from '../../db/connect.ts';
import { byDayUntil, byHourUntil, defaultAges } from './range.ts';

/** An hour of an environment that fails all the time is let go of in several steps. */
const maxAtOnce = 5_000;
/** Tallies are kept for longer than is promised, for readers whose clock is behind. */
const graceMs = 3_600_000;

/**
 * Thins tallies that are old: of each hour, fingerprint and version the last one stays, and of each day where they are very old. Tallies are
 * running totals, so counts stay what they were. Only where packs are of an hour or a day as well: packs of parts of it would be made of what was
 * moved between them. An hour and a day of each environment a call; returns whether there may be more.
 */
export async function thinTallies(sql: Sql, now: Date, ages = defaultAges): Promise<boolean> {
  const then = new Date(now.getTime() - graceMs);
  const hours = await thin(sql, '1 hour', byHourUntil(then, ages));
  const days = await thin(sql, '1 day', byDayUntil(then, ages));
  return hours || days;
}

async function thin(sql: Sql, width: '1 hour' | '1 day', before: Date): Promise<boolean> {
  const marker = width === '1 hour' ? sql`hours_until` : sql`days_until`;
  const next = (tx: Queryable, of: Fragment) => tx<{ env: number; from: Date; until: Date }[]>`
    select p.env, t.from, t.from + ${width}::interval as until
      from error_packing p
     cross join lateral (
       select date_bin(${width}::interval, t.at, 'epoch') as from from error_tallies t
        where t.env = p.env and t.at < least(${before}::timestamptz, p.${marker}, packed_until(p))
          and t.at >= coalesce((select h.${marker} from error_thinning h where h.env = p.env), '-infinity')
        order by t.at limit 1) t
     where ${of}`;
  const due = await next(sql, sql`true`);
  for (const { env } of due) {
    await sql.begin(async (tx) => {
      await tx`select lock_errors(${env})`;
      const [bucket] = await next(tx, tx`p.env = ${env}`);
      if (!bucket || (await thinSome(tx, bucket))) return;
      await tx`
        insert into error_thinning as h (env, ${marker}) values (${env}, ${bucket.until})
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
async function thinSome(tx: Transaction, { env, from, until }: Bucket): Promise<boolean> {
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
