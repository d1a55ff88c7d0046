import type { Stats as WireStats, StatsCounts, StatsDivision, StatsTimes } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';

export type { StatsCounts, StatsTimes };

/** Which runs, which range, and how fine. */
export interface RetrieveStatsParams {
  /** Of one task. Give at most one of `task`, `queue`, `version` and `by`. */
  task?: string;
  /** Of one queue by its name; `task/<id>` is a task's own. */
  queue?: string;
  version?: string;
  /** A series for each of the tasks, queues or versions with the most runs. */
  by?: StatsDivision;
  /** How many series with `by`: 1 to 20. Default 10. */
  limit?: number;
  /** Up to now, such as `24h` or `7d`; wins over `from` and `to`. Default `24h`. */
  period?: string;
  from?: Date;
  to?: Date;
  /** Whole minutes, such as `5m`, `1h` or `1d`. Default: at most 200 points. */
  step?: string;
}

/** What happened in a step. */
export type StatsPoint = StatsCounts & { at: Date };

/** One series. */
export interface StatsSeries {
  /** The task, queue or version; null for the whole environment. */
  name: string | null;
  /** All points together. */
  total: StatsCounts;
  /** One for each step, oldest first. The last step may still be running. */
  points: StatsPoint[];
}

/** Time series of an environment. */
export interface Stats {
  from: Date;
  to: Date;
  /** Milliseconds. */
  stepMs: number;
  series: StatsSeries[];
}

/**
 * Time series: runs by status, time in the queue and duration with percentiles in milliseconds, waiting runs, error groups. By the minute
 * for 2 days, by the hour for 90 days, by the day for 2 years. Throws a BadRequestError for a range that is too wide or a step that is
 * too fine; its message names a step that fits.
 *
 * @example
 * const { series } = await stats.retrieve({ task: 'mail', period: '7d' });
 * for (const { at, completed, failed, duration } of series[0].points) console.log(at, completed, failed, duration.p95);
 */
export async function retrieve({ from, to, ...params }: RetrieveStatsParams = {}): Promise<Stats> {
  const query = { ...params, from: from?.toISOString(), to: to?.toISOString() };
  const { series, ...range }: WireStats = await currentClient().call('retrieveStats', { query });
  return {
    from: new Date(range.from),
    to: new Date(range.to),
    stepMs: range.stepMs,
    series: series.map(({ points, ...rest }) => ({
      ...rest,
      points: points.map((point) => ({ ...point, at: new Date(point.at) })),
    })),
  };
}
