import type { Queryable } from '../../db/connect.ts';
import type { Range } from '../counts/range.ts';
import { columns, countsOf, type Columns } from './columns.ts';
import { noCounts, sum, unpack, type Counts, type Signed } from './counts.ts';

/** In the place of a version: all of them together. */
export const allVersions = -1;

interface Pack {
  readonly size: number;
  readonly counts: Buffer;
}

type Part = { readonly sign: number } & ((Pack & { readonly fingerprints: null }) | Columns);

/**
 * How often the fingerprints of an environment occurred in a range, in the given versions or in all: what there was up to its end, less
 * what there was before it began. Of each the last whole, the packs from there to the nearest moment where one ends, and the tallies between that and
 * the end itself. So the cost depends on how many fingerprints there are, not on the length of the range.
 */
export async function countsIn(
  sql: Queryable,
  env: number,
  versions: readonly number[] | null,
  { from, to }: Range,
): Promise<Counts> {
  if (from && to && from > to) return noCounts;
  // A whole millisecond, up to which but not including.
  const end = to === null ? 'infinity' : new Date(to.getTime() + 1).toISOString();
  const start = from === null ? '-infinity' : from.toISOString();
  const parts = await sql<Part[]>`
    with reach as materialized (
      -- Two ends that are near each other are bridged by the packs between them.
      select *, hi <= lo + interval '4 hours' as near
        from (select r.start, r.end, least(nearest_pack(p, r.start), coalesce(packed_until(p), '-infinity')) as lo,
                     least(nearest_pack(p, r.end), coalesce(packed_until(p), '-infinity')) as hi
                from (select ${start}::timestamptz as start, ${end}::timestamptz as "end") r
                left join error_packing p on p.env = ${env} offset 0) r
    ), ends as materialized (
      select v.version, e.sign, e.at as pack, w.at as whole, coalesce(w.at, case when r.near then r.lo end, '-infinity') as since
        from reach r
       cross join unnest(${versions ?? [allVersions]}::int[]) as v (version)
       cross join lateral (values (1, r.hi), (-1, r.lo)) as e (sign, at)
        left join lateral (
          select x.at from error_packs x
           where not r.near and x.env = ${env} and x.whole and x.version = v.version and x.at <= e.at
           order by x.at desc limit 1) w on true
    ), chosen as (
      select true as whole, version, whole as at, sign from ends where whole is not null
      union all
      select false, p.version, p.at, e.sign from ends e
       cross join lateral (
         select x.version, x.at from error_packs x
          where e.version = ${allVersions} and x.env = ${env} and not x.whole and x.at > e.since and x.at <= e.pack
         union all
         select x.version, x.at from error_packs x
          where x.env = ${env} and not x.whole and x.version = e.version and x.at > e.since and x.at <= e.pack) p
    ), beside_packs as (
      select start as since, "end" as until, 1 as sign from reach where lo = hi
      union all
      select least(hi, "end"), greatest(hi, "end"), case when hi < "end" then 1 else -1 end from reach where lo <> hi
      union all
      select least(lo, start), greatest(lo, start), case when lo < start then -1 else 1 end from reach where lo <> hi
    )
    select c.sign, p.size, null as fingerprints, p.counts
      from (select whole, version, at, sum(sign)::int as sign from chosen group by 1, 2, 3 having sum(sign) <> 0) c
     cross join lateral (
       select x.size, x.counts from error_packs x
        where x.env = ${env} and x.whole = c.whole and x.version = c.version and x.at = c.at limit 1) p
    union all
    select sign, null, ${columns(sql)}
      from (select b.sign, t.fingerprint_id as id, sum(t.n) as n
              from beside_packs b
             cross join lateral (
               select t.fingerprint_id, t.n from error_tallies t
                where t.env = ${env} and t.at >= b.since and t.at < b.until
                  -- by the index on time, not by that on versions
                  and ${versions === null ? sql`true` : sql`t.version + 0 = any(${versions})`}
               offset 0) t
             group by 1, 2) t
     group by sign`;
  return sum(unpackedInOrder(parts));
}

/** Each as it is wanted, the shortest first. */
function* unpackedInOrder(parts: readonly Part[]): Iterable<Signed> {
  const sizeOf = (part: Part): number =>
    part.fingerprints === null ? part.size : part.fingerprints.length / 4;
  for (const part of parts.toSorted((a, b) => sizeOf(a) - sizeOf(b))) {
    const counts = part.fingerprints === null ? unpack(part.counts, part.size) : countsOf(part);
    yield { sign: part.sign, ...counts };
  }
}
