import type { PoolLoad } from '../../db/connect.ts';
import type { Delivery } from '../../db/wake.ts';
import type { MetricFamily } from '../exposition/family.ts';
import type { Ticked } from '../../jobs/job.ts';

interface JobCounts {
  readonly job: string;
  ticks: number;
  failures: number;
  seconds: number;
  lagSeconds: number;
}

/** The background jobs of this process. */
export class JobMetrics {
  readonly #byName = new Map<string, JobCounts>();

  observe({ job, failed, tookMs, lagMs }: Ticked): void {
    let counts = this.#byName.get(job);
    if (!counts) this.#byName.set(job, (counts = { job, ticks: 0, failures: 0, seconds: 0, lagSeconds: 0 }));
    counts.ticks++;
    if (failed) counts.failures++;
    counts.seconds += tookMs / 1_000;
    counts.lagSeconds = lagMs / 1_000;
  }

  families(): MetricFamily[] {
    const jobs = [...this.#byName.values()];
    const of = (
      name: string,
      help: string,
      type: 'counter' | 'gauge',
      read: (counts: JobCounts) => number,
    ): MetricFamily => ({
      name,
      help,
      type,
      samples: jobs.map((counts) => ({ labels: { job_name: counts.job }, value: read(counts) })),
    });
    return [
      of('millrace_job_ticks_total', 'Ticks of background jobs.', 'counter', ({ ticks }) => ticks),
      of(
        'millrace_job_failures_total',
        'Ticks of background jobs that failed.',
        'counter',
        ({ failures }) => failures,
      ),
      of(
        'millrace_job_seconds_total',
        'Duration of background job ticks.',
        'counter',
        ({ seconds }) => seconds,
      ),
      of(
        'millrace_job_lag_seconds',
        'Delay of the last tick of a background job.',
        'gauge',
        (counts) => counts.lagSeconds,
      ),
    ];
  }
}

/** The connections of this process to PostgreSQL. */
export function poolMetrics(pools: Readonly<Record<string, PoolLoad>>): MetricFamily[] {
  const of = (name: string, help: string, read: (load: PoolLoad) => number): MetricFamily => ({
    name,
    help,
    type: 'gauge',
    samples: Object.entries(pools).map(([pool, load]) => ({ labels: { pool }, value: read(load) })),
  });
  return [
    of('millrace_database_connections', 'Open connections to PostgreSQL.', ({ open }) => open),
    of('millrace_database_connections_max', 'Maximum number of open connections.', ({ max }) => max),
    of('millrace_database_connections_idle', 'Idle connections.', ({ idle }) => idle),
    of('millrace_database_waiting', 'Calls waiting for a connection.', ({ waiting }) => waiting),
  ];
}

/** Whether notifications of the database arrive at this process. */
export const deliveryMetrics = ({ missingMs, reopened }: Delivery): MetricFamily[] => [
  {
    name: 'millrace_notifications_missing_seconds',
    help: 'Time since this process last received notifications.',
    type: 'gauge',
    samples: [{ labels: {}, value: missingMs / 1_000 }],
  },
  {
    name: 'millrace_listener_reconnects_total',
    help: 'Number of times the notification connection was reopened.',
    type: 'counter',
    samples: [{ labels: {}, value: reopened }],
  },
];

/** Half-open connections: the host was gone, or something in between dropped them. */
export const silenceMetrics = (total: number): MetricFamily => ({
  name: 'millrace_database_connections_silent_total',
  help: 'Connections to PostgreSQL that were destroyed because nothing was received over them.',
  type: 'counter',
  samples: [{ labels: {}, value: total }],
});
