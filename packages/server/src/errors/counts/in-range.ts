import type { Fragment, Queryable } from '../../db/connect.ts';
import type { Range } from './range.ts';

/** The occurrences to count. `versions` is null for all versions. */
export interface Counted {
  readonly env: number;
  readonly versions: readonly number[] | null;
  readonly range: Range;
}

/** A span in milliseconds, with the first included and the last excluded. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** The part of a range in which occurrences are possible, and the whole time in which any occurred. Undefined if the range can have none. */
export async function spansOf(
  sql: Queryable,
  { env, versions, range: { from, to } }: Counted,
): Promise<{ readonly range: Span; readonly all: Span } | undefined> {
  // The days of an environment are read from the index. A version records when it was first and last seen.
  const [row] = await sql<{ first: Date | null; last: Date | null }[]>`
    ${
      versions === null
        ? sql`select min(at) as first, max(at) as last from error_days where env = ${env}`
        : sql`
          select date_bin('1 day', min(first_seen), 'epoch') as first, date_bin('1 day', max(last_seen), 'epoch') as last
            from error_versions where env = ${env} and version = any(${versions})`
    }`;
  if (!row?.first || !row.last) return undefined;
  const all = { start: row.first.getTime(), end: row.last.getTime() + dayMs };
  const range = {
    start: Math.max(all.start, from?.getTime() ?? all.start),
    end: Math.min(all.end, to === null ? all.end : to.getTime() + 1),
  };
  return range.start < range.end ? { range, all } : undefined;
}

/**
 * How often the fingerprints of an environment occurred in a span: rows of `id` and `n`, several for each fingerprint, whose sum is its count.
 * If the span covers most of all time, the rows are the totals minus the occurrences outside it.
 */
export function occurrencesIn(sql: Queryable, counted: Counted, range: Span, all: Span): Fragment {
  const { env, versions } = counted;
  const outside = range.start - all.start + (all.end - range.end);
  if (outside >= range.end - range.start) return union(sql, rollUpsIn(sql, counted, range, 1));
  const totals =
    versions === null
      ? sql`select id, total::float8 as n from error_fingerprints where env = ${env} and total > 0`
      : sql`
        select fingerprint_id as id, total::float8 as n from error_versions
         where env = ${env} and version = any(${versions})`;
  return union(sql, [
    totals,
    ...rollUpsIn(sql, counted, { start: all.start, end: range.start }, -1),
    ...rollUpsIn(sql, counted, { start: range.end, end: all.end }, -1),
  ]);
}

/** A table of counts, by time. */
interface Level {
  readonly table: (sql: Queryable) => Fragment;
  /** The time that a row covers, in milliseconds. */
  readonly width: number;
  /** The start of one row; all rows start at multiples of the width from it. */
  readonly origin: number;
  /** Rows in an hour in which many groups fail, relative to the other levels. */
  readonly density: number;
}

const tallies: Level = { table: (sql) => sql`error_tallies`, width: 1, origin: 0, density: 20 };
const hours: Level = { table: (sql) => sql`error_hours`, width: hourMs, origin: 0, density: 5 };
const days: Level = { table: (sql) => sql`error_days`, width: dayMs, origin: 0, density: 2 };
/** From Monday to Sunday, for all versions together. */
const weeks: Level = {
  table: (sql) => sql`error_weeks`,
  width: 7 * dayMs,
  origin: Date.UTC(1970, 0, 5),
  density: 0.3,
};

/**
 * Reads the middle of a span at the coarsest level, and the remainders at its ends at finer ones. If the nearest hour, day or week begins
 * outside the span, the excess is subtracted.
 */
function rollUpsIn(sql: Queryable, counted: Counted, span: Span, sign: 1 | -1): Fragment[] {
  const levels = counted.versions === null ? [tallies, hours, days, weeks] : [tallies, hours, days];
  const parts: Fragment[] = [];
  const read = (level: Level, start: number, end: number): void => {
    if (start < end) parts.push(rowsOf(sql, counted, level, { start, end }, sign));
    if (start > end) parts.push(rowsOf(sql, counted, level, { start: end, end: start }, sign === 1 ? -1 : 1));
  };
  let { start, end } = span;
  for (const [index, level] of levels.entries()) {
    const next = levels[index + 1];
    const first = next ? nearest(start, next) : end;
    const last = next ? nearest(end, next) : end;
    const coarser = next ? (last - first) * next.density : Number.POSITIVE_INFINITY;
    // Hours are deleted where ranges begin and end with days, because there days are always cheaper.
    const edges = Math.abs(first - start) + Math.abs(last - end);
    if (first >= last || edges * level.density + coarser >= (end - start) * level.density) {
      read(level, start, end);
      return parts;
    }
    read(level, start, first);
    read(level, last, end);
    start = first;
    end = last;
  }
  return parts;
}

const nearest = (at: number, { width, origin }: Level): number =>
  Math.round((at - origin) / width) * width + origin;

function rowsOf(
  sql: Queryable,
  { env, versions }: Counted,
  level: Level,
  { start, end }: Span,
  sign: 1 | -1,
): Fragment {
  // Sums of this type are exact up to 2^53, and cost half as much as those of bigint, which are numeric.
  const n = sign === 1 ? sql`n::float8` : sql`-n::float8`;
  // An expression, so that tallies are read by the index on time rather than the one on versions.
  const ofVersions = versions === null ? sql`` : sql`and version + 0 = any(${versions})`;
  return sql`
    select fingerprint_id as id, ${n} as n from ${level.table(sql)}
     where env = ${env} and at >= ${new Date(start)} and at < ${new Date(end)} ${ofVersions}`;
}

const union = (sql: Queryable, parts: readonly Fragment[]): Fragment =>
  parts.reduce((some, next) => sql`${some} union all ${next}`);

/**
 * The counts of groups, as rows of `number` and `count`, from rows of `id` and `n` of fingerprints. A group has the number of the
 * fingerprint that it is named after, and most groups have only that one. Other fingerprints are looked up one by one, because the planner
 * would overestimate them and join all fingerprints with all groups.
 */
export const byGroup = (sql: Queryable, env: number, occurrences: Fragment): Fragment => sql`
  select coalesce(m.number, c.id) as number, sum(c.n) as count
    from (select id, sum(n) as n from (${occurrences}) o group by id) c
    left join (
      select f.id, g.number from error_fingerprints f
       cross join lateral (select x.number from error_groups x where x.env = f.env and x.id = f.group_id limit 1) g
       where f.env = ${env} and f.group_id <> f.own_group) m on m.id = c.id
   group by 1 having sum(c.n) > 0`;
