import type { StatsSort } from '@millrace/contract';
import type { Fragment, Queryable } from '../../db/connect.ts';
import { maxBucket, minBucket, Times } from './buckets.ts';
import { counted, type Counted } from './record.ts';
import { versionTaskWidth, type StatsRange } from './range.ts';
import { seriesName } from './series.ts';

export interface StatsPoint extends Readonly<Record<Counted, number>> {
  /** Beginning of the step, in milliseconds since 1970. */
  readonly at: number;
  readonly waited: Times;
  readonly lasted: Times;
  /** Null if no sample was taken. */
  readonly maxWaiting: number | null;
  readonly maxOldestMs: number | null;
}

interface Row extends Record<Counted, number> {
  readonly series: string;
  readonly bin: number;
  /** The histograms of all its roll-ups, each such as `-40:{1,2}`; null if there are none. */
  readonly waited: string | null;
  readonly waited_ms: number;
  readonly lasted: string | null;
  readonly lasted_ms: number;
  readonly max_waiting: number | null;
  readonly max_oldest_ms: number | null;
}

/** The sums of roll-ups `s`, as columns of `Row`. */
const sumsOf = (sql: Queryable): Fragment => sql`
           sum(s.triggered)::float8 as triggered, sum(s.completed)::float8 as completed, sum(s.failed)::float8 as failed,
           sum(s.crashed)::float8 as crashed, sum(s.system_failure)::float8 as system_failure, sum(s.timed_out)::float8 as timed_out,
           sum(s.canceled)::float8 as canceled, sum(s.expired)::float8 as expired, sum(s.retried)::float8 as retried,
           sum(s.new_errors)::float8 as new_errors, sum(s.regressed_errors)::float8 as regressed_errors,
           string_agg(s.waited_from || ':' || s.waited::text, ';') filter (where s.waited_from is not null) as waited,
           sum(s.waited_ms::float8) as waited_ms,
           string_agg(s.lasted_from || ':' || s.lasted::text, ';') filter (where s.lasted_from is not null) as lasted,
           sum(s.lasted_ms::float8) as lasted_ms,
           max(s.max_waiting) as max_waiting, max(s.max_oldest_ms)::float8 as max_oldest_ms`;

/** The points of some series, one for each step of the range, including steps without events. Each series is a range of the primary key. */
export async function readSeries(
  sql: Queryable,
  env: number,
  series: readonly string[],
  { from, to, stepMs, widthMinutes }: StatsRange,
): Promise<Map<string, StatsPoint[]>> {
  const rows = await sql<Row[]>`
    select s.series, (floor(extract(epoch from s.at)::float8 * 1000 / ${stepMs}::float8) * ${stepMs}::float8) as bin,
           ${sumsOf(sql)}
      from unnest(${[...series]}::text[]) as n (name)
     cross join lateral (
       select x.* from run_stats x
        where x.env = ${env} and x.width = ${widthMinutes} and x.series = n.name and x.at >= ${from} and x.at < ${to} offset 0) s
     group by 1, 2`;
  const grouped = new Map<string, Map<number, Row>>(series.map((name) => [name, new Map()]));
  for (const row of rows) grouped.get(row.series)?.set(row.bin, row);
  const result = new Map<string, StatsPoint[]>();
  for (const [name, bins] of grouped) {
    const points: StatsPoint[] = [];
    for (let at = from.getTime(); at < to.getTime(); at += stepMs) points.push(pointOf(at, bins.get(at)));
    result.set(name, points);
  }
  return result;
}

/** Maximum roll-ups that a total of a task on a version reads: a week of constant work. */
export const maxVersionTaskRollUps = 28;

/**
 * The activity of tasks on a version, by task; tasks without any are absent. Reads the last 28 six-hour roll-ups of each task in which
 * something happened, from the end of a range of the primary key.
 */
export async function readVersionTasks(
  sql: Queryable,
  env: number,
  version: string,
  tasks: readonly string[],
): Promise<Map<string, StatsPoint>> {
  const rows = await sql<(Row & { readonly task: string })[]>`
    select n.task, 0 as bin, ${sumsOf(sql)}
      from unnest(${[...tasks]}::text[], ${tasks.map((task) => seriesName.versionTask(version, task))}::text[]) as n (task, name)
     cross join lateral (
       select x.* from run_stats x
        where x.env = ${env} and x.width = ${versionTaskWidth} and x.series = n.name
        order by x.at desc limit ${maxVersionTaskRollUps}) s
     group by 1`;
  return new Map(rows.map((row) => [row.task, pointOf(0, row)]));
}

/** The sum of all points. */
export function totalOf(points: readonly StatsPoint[]): StatsPoint {
  const maxOf = (read: (point: StatsPoint) => number | null) =>
    points.reduce<number | null>((max, point) => larger(max, read(point)), null);
  return {
    ...sums(points),
    at: points[0]?.at ?? 0,
    waited: added(points.map(({ waited }) => waited)),
    lasted: added(points.map(({ lasted }) => lasted)),
    maxWaiting: maxOf(({ maxWaiting }) => maxWaiting),
    maxOldestMs: maxOf(({ maxOldestMs }) => maxOldestMs),
  };
}

/** Runs that ended without success, not counting cancellations. */
export const failuresOf = (
  point: Pick<StatsPoint, 'failed' | 'crashed' | 'system_failure' | 'timed_out'>,
): number => point.failed + point.crashed + point.system_failure + point.timed_out;

/**
 * The tasks, queues or versions with the most runs in a range, or with the lowest share of successful runs. Reads hours or days, so that few
 * rows are read.
 */
export async function findSeries(
  sql: Queryable,
  env: number,
  kind: 'task' | 'queue' | 'version',
  { from, to, widthMinutes }: StatsRange,
  { limit, sort }: { readonly limit: number; readonly sort: StatsSort },
): Promise<string[]> {
  const width = widthMinutes < 60 || to.getTime() - from.getTime() <= 2 * 86_400_000 ? 60 : 1_440;
  const prefix = seriesName[kind]('');
  const failures = sql`sum(s.failed + s.crashed + s.system_failure + s.timed_out)`;
  // Null if no run ended; these come last.
  const lowestSuccess = sql`sum(s.completed)::float8 / nullif(sum(s.completed) + ${failures}, 0) nulls last, `;
  const rows = await sql<{ series: string }[]>`
    select s.series from run_stats s
     where s.env = ${env} and s.width = ${width} and s.series like ${`${prefix}%`}
       and s.at >= date_bin(make_interval(mins => ${width}), ${from}, 'epoch') and s.at < ${to}
     group by s.series
     order by ${sort === 'success' ? lowestSuccess : sql``}
              sum(s.triggered) + sum(s.completed) + sum(s.failed) + sum(s.crashed) + sum(s.canceled) desc, s.series limit ${limit}`;
  return rows.map(({ series }) => series.slice(prefix.length));
}

const pointOf = (at: number, row: Row | undefined): StatsPoint =>
  row
    ? {
        ...row,
        at,
        waited: timesOf(row.waited, row.waited_ms),
        lasted: timesOf(row.lasted, row.lasted_ms),
        maxWaiting: row.max_waiting,
        maxOldestMs: row.max_oldest_ms,
      }
    : { ...nothing, at, waited: new Times(), lasted: new Times(), maxWaiting: null, maxOldestMs: null };

const nothing = Object.fromEntries(counted.map((what) => [what, 0])) as Record<Counted, number>;

const sums = (points: readonly StatsPoint[]): Record<Counted, number> =>
  Object.fromEntries(
    counted.map((what) => [what, points.reduce((sum, point) => sum + point[what], 0)]),
  ) as Record<Counted, number>;

const larger = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.max(a, b);

/** Reads digit by digit, because a page of time series has a hundred thousand numbers. */
function timesOf(text: string | null | undefined, sum = 0): Times {
  const times = new Times();
  times.sum = sum;
  if (!text) return times;
  const counts = new Float64Array(maxBucket - minBucket + 1);
  for (let at = 0; at < text.length; at++) {
    const colon = text.indexOf(':', at);
    let index = Number(text.slice(at, colon)) - minBucket;
    let number = 0;
    // After the colon and the opening brace.
    for (at = colon + 2; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code >= zero && code <= zero + 9) {
        number = number * 10 + code - zero;
        continue;
      }
      counts[index] = (counts[index] ?? 0) + number;
      index++;
      number = 0;
      // A brace ends the histogram; a semicolon follows it.
      if (code !== comma) break;
    }
    at++;
  }
  times.addDense(minBucket, counts);
  return times;
}

const [zero, comma] = [48, 44];

function added(all: readonly Times[]): Times {
  const sum = new Times();
  for (const times of all) sum.add(times);
  return sum;
}
