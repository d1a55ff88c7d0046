import type { Clock } from '../../db/clock.ts';
import type { Sql } from '../../db/connect.ts';
import type { Delivery } from '../../db/wake.ts';
import { silentConnections } from '../../db/watch.ts';
import type { MetricFamily } from '../exposition/family.ts';
import type { Ticked } from '../../jobs/job.ts';
import type { RunStats } from '../stats/record.ts';
import { readSample } from '../stats/sample.ts';
import { environmentLabels } from './environments.ts';
import { installationMetrics } from './installation.ts';
import { deliveryMetrics, JobMetrics, poolMetrics, silenceMetrics } from './process.ts';
import { runMetrics } from './runs.ts';

export interface FleetMetricsDependencies {
  readonly sql: Sql;
  readonly clock: Pick<Clock, 'now'>;
  readonly stats: RunStats;
  readonly pools: Readonly<Record<string, Sql>>;
  readonly runners: { readonly connected: () => number };
  readonly channels: { readonly followed: number; readonly logReads: number };
  /** The delivery of notifications to this process. */
  readonly delivery: Delivery;
  /** Number of tasks, and of queues, with separate series. Default 200. */
  readonly maxNames?: number | undefined;
}

export interface FleetMetrics {
  onTick(ticked: Ticked): void;
  collect(): Promise<MetricFamily[]>;
}

export const defaultMaxNames = 200;

/** The metrics of runs, queues, runners and background jobs. Reading them costs one small query, regardless of how many runs wait. */
export function startFleetMetrics(dependencies: FleetMetricsDependencies): FleetMetrics {
  const { sql, clock, stats, pools, runners, channels, delivery, maxNames = defaultMaxNames } = dependencies;
  const runs = runMetrics(maxNames);
  const jobs = new JobMetrics();
  const labels = environmentLabels(sql);
  stats.listeners.add(runs);
  return {
    onTick: (ticked) => jobs.observe(ticked),
    async collect() {
      const loads = Object.entries(pools).map(([name, pool]) => [name, pool.load()] as const);
      // Without the database, the metrics of the process remain.
      const known = await labels(runs.environments()).catch(() => new Map());
      const sample = await readSample(sql, clock).catch(() => undefined);
      return [
        ...runs.families(known),
        ...installationMetrics(sample, maxNames),
        ...jobs.families(),
        ...poolMetrics(Object.fromEntries(loads)),
        ...deliveryMetrics(delivery),
        silenceMetrics(silentConnections(0).total),
        {
          name: 'millrace_runners_connected',
          help: 'Runners connected to this process.',
          type: 'gauge',
          samples: [{ labels: {}, value: runners.connected() }],
        },
        {
          name: 'millrace_channels_followed',
          help: 'Channels that this process follows for its readers.',
          type: 'gauge',
          samples: [{ labels: {}, value: channels.followed }],
        },
        {
          name: 'millrace_channel_reads_total',
          help: 'Pages that this process read for channel followers.',
          type: 'counter',
          samples: [{ labels: {}, value: channels.logReads }],
        },
      ];
    },
  };
}
