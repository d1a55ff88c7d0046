import type { ErrorGroupDetail, ErrorTrend } from '@millrace/contract';
import type { Queryable, Sql } from '../../db/connect.ts';
import { groupTotalAt } from './filters.ts';
import { endOfRange } from '../counts/range.ts';
import { isErrorId, readErrorGroup } from './retrieve.ts';
import { tally } from '../record/tally.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const intervals = [minuteMs, 5 * minuteMs, 15 * minuteMs, hourMs, 6 * hourMs, dayMs, 7 * dayMs];
const maxPoints = 60;

/** The shortest interval in milliseconds that divides a period into at most 60 points. */
export const trendInterval = (periodMs: number): number =>
  intervals.find((interval) => periodMs / interval <= maxPoints) ??
  Math.ceil(periodMs / maxPoints / dayMs) * dayMs;

/** The error group with an id, and its trend; undefined if the environment has no group with this id. */
export async function retrieveWithTrend(
  sql: Sql,
  env: number,
  id: string,
  periodMs: number,
  now: Date,
): Promise<(ErrorGroupDetail & { trend: ErrorTrend }) | undefined> {
  if (!isErrorId(id)) return undefined;
  await tally(sql, env);
  return sql.moment(async (moment) => {
    const group = await readErrorGroup(moment, env, id, now);
    return group && { ...group, trend: await trendOf(moment, env, group.id, periodMs, now) };
  });
}

/** How often a group occurred in each interval of the period that ends now. */
async function trendOf(
  sql: Queryable,
  env: number,
  id: string,
  periodMs: number,
  now: Date,
): Promise<ErrorTrend> {
  const [trend] = await trendsOf(sql, env, [id], periodMs, now);
  if (!trend) throw new Error(`no trend of ${id}`);
  return trend;
}

/** The trends of several groups, in their order, read with one statement. Intervals begin at whole multiples since 1970. */
export async function trendsOf(
  sql: Queryable,
  env: number,
  ids: readonly string[],
  periodMs: number,
  now: Date,
): Promise<ErrorTrend[]> {
  if (ids.length === 0) return [];
  const intervalMs = trendInterval(periodMs);
  const count = Math.ceil(periodMs / intervalMs);
  const last = Math.floor(now.getTime() / intervalMs) * intervalMs;
  const starts = Array.from({ length: count }, (_, index) => last - (count - 1 - index) * intervalMs);
  const before = starts.map((start) => endOfRange(new Date(start - 1), now));
  const rows = await sql<{ totals: number[] }[]>`
    select array(
             select ${groupTotalAt(sql)}::float8
               from unnest(${[...before, now].map((at) => at.toISOString())}::timestamptz[]) with ordinality as b (at, ix)
              order by b.ix) as totals
      from (select ${env}::int as env, x.id, x.nr from unnest(${ids}::text[]) with ordinality as x (id, nr)) g
     order by g.nr`;
  return rows.map(({ totals }) => ({
    intervalMs,
    points: starts.map((start, index) => ({
      from: new Date(start).toISOString(),
      count: (totals[index + 1] ?? 0) - (totals[index] ?? 0),
    })),
  }));
}
