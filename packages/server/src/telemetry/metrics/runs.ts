import type { Labels, MetricFamily, NativeHistogram } from '../exposition/family.ts';
import { schema, Times } from '../stats/buckets.ts';
import { counted, type Counted, type StatsListener, type Subject } from '../stats/record.ts';
import type { EnvironmentLabels } from './environments.ts';
import { BoundedNames } from './names.ts';

/** Powers of four, from 4 ms to 4.5 hours. Each is a bound of a native bucket as well. */
const bounds = Array.from({ length: 12 }, (_, index) => 4 ** (index - 4));
/** Numbers of items: powers of two. */
const itemBounds = Array.from({ length: 10 }, (_, index) => 2 ** index);

/** By the status with which a run or an attempt ended. */
const statuses: Partial<Record<Counted, string>> = {
  completed: 'completed',
  failed: 'failed',
  crashed: 'crashed',
  system_failure: 'system_failure',
  timed_out: 'timed_out',
  canceled: 'canceled',
  expired: 'expired',
};

/** Final statuses that every task includes, even without such a run. */
const shownAtZero: ReadonlySet<Counted> = new Set(['completed', 'failed', 'expired']);

interface TaskCounts {
  readonly env: number;
  readonly task: string;
  readonly counts: Partial<Record<Counted, number>>;
  readonly lasted: Times;
}

interface QueueTimes {
  readonly env: number;
  readonly queue: string;
  readonly waited: Times;
}

export interface RunMetrics extends StatsListener {
  /** The environments with counts. */
  environments(): Set<number>;
  families(labels: ReadonlyMap<number, EnvironmentLabels>): MetricFamily[];
}

/** Everything that this process has counted since it started. `max` is the number of tasks, and of queues, with separate series. */
export function runMetrics(max: number): RunMetrics {
  const taskNames = new BoundedNames(max);
  const queueNames = new BoundedNames(max);
  const byTask = new Map<string, TaskCounts>();
  const byQueue = new Map<string, QueueTimes>();
  const written = new Map<string, Times>();
  const lags = new Times();

  const ofTask = ({ env, task }: Subject): TaskCounts => {
    const label = taskNames.label(`${env} ${task}`) === 'other' ? 'other' : task;
    const key = `${env} ${label}`;
    let entry = byTask.get(key);
    if (!entry) byTask.set(key, (entry = { env, task: label, counts: {}, lasted: new Times() }));
    return entry;
  };
  const ofQueue = ({ env, queue = 'unknown' }: Subject): QueueTimes => {
    const label = queueNames.label(`${env} ${queue}`) === 'other' ? 'other' : queue;
    const key = `${env} ${label}`;
    let entry = byQueue.get(key);
    if (!entry) byQueue.set(key, (entry = { env, queue: label, waited: new Times() }));
    return entry;
  };

  return {
    counted(subject, what, n) {
      const { counts } = ofTask(subject);
      counts[what] = (counts[what] ?? 0) + n;
    },
    started: (subject, ms) => ofQueue(subject).waited.observe(ms),
    ended: (subject, ms) => ofTask(subject).lasted.observe(ms),
    wrote(what, items) {
      let times = written.get(what);
      if (!times) written.set(what, (times = new Times()));
      // The buckets are those of seconds.
      times.observe(items * 1_000);
    },
    fired: (lagMs) => lags.observe(lagMs),
    environments: () => new Set([...byTask.values(), ...byQueue.values()].map(({ env }) => env)),

    families(labels) {
      const envOf = (env: number): Labels => ({
        ...(labels.get(env) ?? { project: 'unknown', environment: String(env) }),
      });
      const tasks = [...byTask.values()];
      const counterOf = (name: string, help: string, what: Counted): MetricFamily => ({
        name,
        help,
        type: 'counter',
        samples: tasks.flatMap(({ env, task, counts }) => {
          // A counter must be reported as zero before it grows; otherwise Prometheus sees no increase.
          const value = counts[what] ?? 0;
          return [{ labels: { ...envOf(env), task }, value }];
        }),
      });
      return [
        counterOf('millrace_runs_triggered_total', 'Runs created.', 'triggered'),
        {
          name: 'millrace_runs_total',
          help: 'Runs ended, by task and final status.',
          type: 'counter',
          samples: tasks.flatMap(({ env, task, counts }) =>
            counted.flatMap((what) => {
              const status = statuses[what];
              const value = counts[what] ?? (shownAtZero.has(what) ? 0 : undefined);
              return status === undefined || value === undefined
                ? []
                : [{ labels: { ...envOf(env), task, status }, value }];
            }),
          ),
        },
        counterOf('millrace_retries_total', 'Failed attempts that are retried.', 'retried'),
        counterOf('millrace_error_groups_new_total', 'New error groups.', 'new_errors'),
        counterOf(
          'millrace_error_groups_regressed_total',
          'Resolved error groups that occurred again.',
          'regressed_errors',
        ),
        {
          name: 'millrace_attempt_duration_seconds',
          help: 'Duration of attempts from assignment to end, excluding waits.',
          type: 'histogram',
          histograms: tasks
            .filter(({ lasted }) => lasted.count > 0)
            .map(({ env, task, lasted }) => histogramOf({ ...envOf(env), task }, lasted)),
        },
        {
          name: 'millrace_queue_wait_seconds',
          help: 'Time attempts waited in their queue before they were assigned to a runner.',
          type: 'histogram',
          histograms: [...byQueue.values()].map(({ env, queue, waited }) =>
            histogramOf({ ...envOf(env), queue }, waited),
          ),
        },
        {
          name: 'millrace_schedule_delay_seconds',
          help: 'Delay between the due time of a schedule tick and the creation of its run.',
          type: 'histogram',
          histograms: [histogramOf({}, lags)],
        },
        {
          name: 'millrace_group_commit_size',
          help: 'Triggers or completions that shared a statement and a commit.',
          type: 'histogram',
          histograms: [...written].map(([what, times]) =>
            histogramOf({ statement: what }, times, itemBounds),
          ),
        },
      ];
    },
  };
}

const histogramOf = (labels: Labels, times: Times, of: readonly number[] = bounds): NativeHistogram => ({
  labels,
  schema,
  buckets: times.counts,
  sum: times.sum / 1_000,
  count: times.count,
  bounds: of,
});
