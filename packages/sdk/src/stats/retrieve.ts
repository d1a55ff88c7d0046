import type { Stats as WireStats, StatsCounts, StatsDivision, StatsTimes } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';

export type { StatsCounts, StatsTimes };

/** The runs, time range and resolution of the statistics. */
export interface RetrieveStatsParams {
  /** Only one task. Pass at most one of `task`, `queue`, `version` and `by`. */
  task?: string;
  /** Only one queue, by name; `task/<id>` is a task's own. */
  queue?: string;
  version?: string;
  /** One series for each of the tasks, queues or versions with the most runs. */
  by?: StatsDivision;
  /** Number of series with `by`: 1 to 20. Default 10. */
  limit?: number;
  /** A range up to now, such as `24h` or `7d`; takes precedence over `from` and `to`. Default `24h`. */
  period?: string;
  from?: Date;
  to?: Date;
  /** Whole minutes, such as `5m`, `1h` or `1d`. Default: a step that results in at most 200 points. */
  step?: string;
}

/** The counts of one step. */
export type StatsPoint = StatsCounts & { at: Date };

export interface StatsSeries {
  /** The task, queue or version; null for the whole environment. */
  name: string | null;
  /** The total over all points. */
  total: StatsCounts;
  /** One for each step, oldest first. The last step may still be in progress. */
  points: StatsPoint[];
}

/** Time series of an environment. */
export interface Stats {
  from: Date;
  to: Date;
  /** The length of a step in milliseconds. */
  stepMs: number;
  series: StatsSeries[];
}

/**
 * Time series: runs by status, queue time and duration with percentiles in milliseconds, waiting runs, error groups. Resolution is one minute
 * for 2 days, one hour for 90 days, one day for 2 years. Throws a BadRequestError for a range that is too wide or a step that is too fine; its
 * message suggests a valid step.
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
