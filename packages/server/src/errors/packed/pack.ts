import type { Sql, Transaction } from '../../db/connect.ts';
import { columns, countsOf, type Columns } from './columns.ts';
import { pack, type Counts } from './counts.ts';
import { allVersions, countsIn } from './read.ts';

/** A quarter of an hour is packed when it has been over for a while: what comes later makes it be packed again. */
const settledMs = 120_000;
const quarterMs = 900_000;

/** What a pack costs its reader beside its size. */
const perPack = 100;
/** So much is read since the last whole before there is another one, or half of its size if that is more. */
const maxSince = 2_000;

/** Packs what occurred in the next quarter of an hour of each environment that is over; returns whether there may be more. */
export async function packCounts(sql: Sql, now: Date, maxSinceWhole = maxSince): Promise<boolean> {
  const before = new Date(Math.floor((now.getTime() - settledMs) / quarterMs) * quarterMs);
  const due = await sql<{ env: number }[]>`
    select e.id as env from environments e left join error_packing p on p.env = e.id
     where exists (select from error_tallies t
                    where t.env = e.id and t.at < ${before} and t.at >= coalesce(packed_until(p), '-infinity'))`;
  for (const { env } of due) await sql.begin((tx) => packNext(tx, env, before, maxSinceWhole));
  return due.length > 0;
}

async function packNext(tx: Transaction, env: number, before: Date, maxSinceWhole: number): Promise<void> {
  await tx`select lock_errors(${env})`;
  await forgetPartly(tx, env);
  const [next] = await tx<{ until: Date }[]>`
    insert into error_packing as p (env, until)
    select ${env}, date_bin('15 minutes', t.at, 'epoch') + interval '15 minutes' from error_tallies t
     where t.env = ${env} and t.at < ${before}
       and t.at >= coalesce((select p.until from error_packing p where p.env = ${env}), '-infinity')
     order by t.at limit 1
    on conflict (env) do update set until = excluded.until
    returning until`;
  if (!next) return;
  const { until } = next;
  const since = new Date(until.getTime() - quarterMs);
  const parts = await tx<(Columns & { version: number })[]>`
    select version, ${columns(tx)}
      from (select version, fingerprint_id as id, sum(n) as n from error_tallies
             where env = ${env} and at >= ${since} and at < ${until} group by 1, 2) t
     group by version`;
  for (const { version, ...counts } of parts)
    await keep(tx, { env, version, whole: false, since, at: until }, countsOf(counts));
  const overdue = await tx<{ version: number }[]>`
    select v.version
      from unnest(${[allVersions, ...parts.map((part) => part.version)]}::int[]) as v (version)
      left join lateral (
        select w.at, w.size from error_packs w
         where w.env = ${env} and w.whole and w.version = v.version order by w.at desc limit 1) w on true
     cross join lateral (
       select sum(h.size) + ${perPack}::int * count(*) as size from (
         select h.size from error_packs h
          where h.env = ${env} and not h.whole and h.version = v.version and h.at > coalesce(w.at, '-infinity')
         union all
         select h.size from error_packs h
          where v.version = ${allVersions} and h.env = ${env} and not h.whole and h.at > coalesce(w.at, '-infinity')) h) s
     where s.size > greatest(${maxSinceWhole}::int, w.size / 2)`;
  for (const { version } of overdue) {
    const range = { from: null, to: new Date(until.getTime() - 1) };
    const counts = await countsIn(tx, env, version === allVersions ? null : [version], range);
    await keep(tx, { env, version, whole: true, since: '-infinity', at: until }, counts);
  }
}

/**
 * Where something late took the pack of an hour or of a day with it, only a part of that may have been before it: all of it is packed again,
 * by the quarter of an hour, and what was rolled up before ends where it begins.
 */
async function forgetPartly(tx: Transaction, env: number): Promise<void> {
  const [packing] = await tx<{ until: Date }[]>`
    update error_packing p
       set until = packed_until(p), hours_until = least(p.hours_until, packed_until(p)),
           days_until = least(p.days_until, packed_until(p))
     where p.env = ${env} and p.until < greatest(p.hours_until, p.days_until)
    returning until`;
  if (packing) await tx`delete from error_packs where env = ${env} and at > ${packing.until}`;
}

interface Of {
  readonly env: number;
  readonly version: number;
  readonly whole: boolean;
  readonly since: Date | '-infinity';
  readonly at: Date;
}

export const keep = (tx: Transaction, { env, version, whole, since, at }: Of, counts: Counts) => tx`
  insert into error_packs (env, version, whole, since, at, size, counts)
  values (${env}, ${version}, ${whole}, ${since}, ${at}, ${counts.counts.length}, ${pack(counts)})`;
