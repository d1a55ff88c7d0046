import type { Sql, Transaction } from '../../db/connect.ts';
import { byDayUntil, byHourUntil, defaultAges } from '../counts/range.ts';
import { sum, unpack, type Signed } from './counts.ts';
import { keep } from './pack.ts';
import { allVersions } from './read.ts';

/**
 * Puts old packs together, as readers ask for them: those of an hour into one, and those of a day once they are very old. The next of each
 * environment; returns whether there may be more.
 */
export async function rollUpPacks(sql: Sql, now: Date, ages = defaultAges): Promise<boolean> {
  const hours = await rollUp(sql, '1 hour', byHourUntil(now, ages));
  const days = await rollUp(sql, '24 hours', byDayUntil(now, ages));
  return hours || days;
}

async function rollUp(sql: Sql, width: '1 hour' | '24 hours', before: Date): Promise<boolean> {
  const marker = width === '1 hour' ? sql`hours_until` : sql`days_until`;
  // Days may be ahead of hours, and their packs are no parts of one.
  const done = width === '1 hour' ? sql`greatest(p.hours_until, p.days_until)` : sql`p.days_until`;
  const due = await sql<{ env: number }[]>`
    select p.env from error_packing p
     where exists (select from error_packs x
                    where x.env = p.env and not x.whole and x.at > ${done}
                      and x.at <= date_bin(${width}::interval, least(${before}::timestamptz, packed_until(p)), 'epoch'))`;
  for (const { env } of due) {
    await sql.begin(async (tx) => {
      await tx`select lock_errors(${env})`;
      const [bucket] = await tx<{ from: Date; until: Date }[]>`
        update error_packing p set ${marker} = b.until
          from (
            select date_bin(${width}::interval, x.at - interval '1 microsecond', 'epoch') as from,
                   date_bin(${width}::interval, x.at - interval '1 microsecond', 'epoch') + ${width}::interval as until
              from error_packing p join error_packs x on x.env = p.env and not x.whole and x.at > ${done}
             where p.env = ${env} order by x.at limit 1) b
         where p.env = ${env} and b.until <= least(${before}::timestamptz, packed_until(p))
        returning b.from, b.until`;
      if (bucket) await putTogether(tx, env, bucket);
    });
  }
  return due.length > 0;
}

interface Row {
  readonly version: number;
  readonly whole: boolean;
  readonly at: Date;
  readonly size: number;
  readonly counts: Buffer;
}

async function putTogether(
  tx: Transaction,
  env: number,
  { from, until }: { from: Date; until: Date },
): Promise<void> {
  const rows = await tx<Row[]>`
    delete from error_packs where env = ${env} and at > ${from} and at <= ${until}
    returning version, whole, at, size, counts`;
  const parts = rows.filter((row) => !row.whole);
  for (const version of new Set(parts.map((part) => part.version))) {
    const own = parts.filter((part) => part.version === version);
    await keep(tx, { env, version, whole: false, since: from, at: until }, sum(unpacked(own)));
  }
  const wholes = rows.filter((row) => row.whole).toSorted((a, b) => a.at.getTime() - b.at.getTime());
  for (const last of new Map(wholes.map((whole) => [whole.version, whole])).values()) {
    const since = parts.filter(
      (part) => part.at > last.at && (last.version === allVersions || part.version === last.version),
    );
    await keep(
      tx,
      { env, version: last.version, whole: true, since: '-infinity', at: until },
      sum(unpacked([...since, last])),
    );
  }
}

function* unpacked(rows: readonly Row[]): Iterable<Signed> {
  for (const { counts, size } of rows) yield { sign: 1, ...unpack(counts, size) };
}
