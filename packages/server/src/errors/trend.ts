import type { ErrorTrend } from '@millrace/contract';
import type { Queryable } from '../db/connect.ts';
import { groupTotalAt } from './filters.ts';
import { endOfRange } from './range.ts';
import { tally } from './tally.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const intervals = [minuteMs, 5 * minuteMs, 15 * minuteMs, hourMs, 6 * hourMs, dayMs, 7 * dayMs];
const mostPoints = 60;

/** The shortest interval that shows a period in at most 60 points. Milliseconds. */
export const trendInterval = (periodMs: number): number =>
  intervals.find((interval) => periodMs / interval <= mostPoints) ??
  Math.ceil(periodMs / mostPoints / dayMs) * dayMs;

/** How often a group occurred in each interval of the period that ends now. Intervals begin at whole multiples since 1970. */
export async function trendOf(
  sql: Queryable,
  env: number,
  id: string,
  periodMs: number,
  now: Date,
): Promise<ErrorTrend> {
  await tally(sql, env);
  const intervalMs = trendInterval(periodMs);
  const count = Math.ceil(periodMs / intervalMs);
  const last = Math.floor(now.getTime() / intervalMs) * intervalMs;
  const starts = Array.from({ length: count }, (_, place) => last - (count - 1 - place) * intervalMs);
  const before = starts.map((start) => endOfRange(new Date(start - 1), now));
  const rows = await sql<{ total: number }[]>`
    select ${groupTotalAt(sql)}::float8 as total
      from (select ${env}::int as env, ${id}::text as id) g
     cross join unnest(${[...before, now].map((at) => at.toISOString())}::timestamptz[]) with ordinality as b (at, place)
     order by b.place`;
  return {
    intervalMs,
    points: starts.map((start, place) => ({
      from: new Date(start).toISOString(),
      count: (rows[place + 1]?.total ?? 0) - (rows[place]?.total ?? 0),
    })),
  };
}
