import type { OperationsOf, StatsCounts, StatsTimes } from '@millrace/contract';
import { statsDivisions } from '@millrace/contract';
import type { Clock } from '../../db/clock.ts';
import type { Sql } from '../../db/connect.ts';
import { badRequest } from '../../problem.ts';
import type { HandlersOf } from '../../request.ts';
import type { Times } from './buckets.ts';
import { readStatsRange } from './range.ts';
import { findSeries, readSeries, totalOf, type StatsPoint } from './read.ts';
import { seriesName } from './series.ts';

export function statsHandlers(sql: Sql, clock: Pick<Clock, 'now'>): HandlersOf<OperationsOf<'stats'>> {
  return {
    async retrieveStats({ environment, query }) {
      const filters = (['task', 'queue', 'version', 'by'] as const).filter(
        (name) => query[name] !== undefined,
      );
      if (filters.length > 1)
        throw badRequest(`${filters.join(' and ')}: use at most one of task, queue, version and by.`);
      const { by, limit, sort } = query;
      const env = environment.id;
      const range = readStatsRange(query, clock.now(), by === undefined ? 1 : limit);
      const named = statsDivisions.find((division) => query[division] !== undefined);
      const listed: { name: string | null; series: string }[] =
        by === undefined
          ? [seriesOf(named, named && query[named])]
          : (await findSeries(sql, env, by, range, { limit, sort })).map((name) => seriesOf(by, name));
      const found = await readSeries(
        sql,
        env,
        listed.map(({ series }) => series),
        range,
      );
      return {
        from: range.from.toISOString(),
        to: range.to.toISOString(),
        stepMs: range.stepMs,
        series: listed.map(({ name, series }) => {
          const points = found.get(series) ?? [];
          return {
            name,
            total: countsOf(totalOf(points)),
            points: points.map((point) => ({ at: new Date(point.at).toISOString(), ...countsOf(point) })),
          };
        }),
      };
    },
  };
}

const seriesOf = (division: (typeof statsDivisions)[number] | undefined, name: string | undefined) =>
  division === undefined || name === undefined
    ? { name: null, series: seriesName.all }
    : { name, series: seriesName[division](name) };

const countsOf = (point: StatsPoint): StatsCounts => ({
  triggered: point.triggered,
  completed: point.completed,
  failed: point.failed,
  crashed: point.crashed,
  systemFailure: point.system_failure,
  timedOut: point.timed_out,
  canceled: point.canceled,
  expired: point.expired,
  retried: point.retried,
  newErrors: point.new_errors,
  regressedErrors: point.regressed_errors,
  wait: timesOf(point.waited),
  duration: timesOf(point.lasted),
  waiting: point.maxWaiting,
  oldestMs: point.maxOldestMs,
});

function timesOf(times: Times): StatsTimes {
  if (times.count === 0) return { count: 0, average: null, p50: null, p95: null, p99: null };
  const [p50, p95, p99] = times.quantiles([0.5, 0.95, 0.99]);
  return {
    count: times.count,
    average: rounded(times.sum / times.count),
    p50: rounded(p50),
    p95: rounded(p95),
    p99: rounded(p99),
  };
}

/** Milliseconds with two decimal places. */
const rounded = (ms: number | undefined): number | null =>
  ms === undefined ? null : Math.round(ms * 100) / 100;
