import type { Labels, MetricFamily, Sample } from '../exposition/family.ts';
import type { FleetSample } from '../stats/sample.ts';
import { labelsOf } from './environments.ts';

/** The last sample of the whole installation. Every process exposes the same values: `max by` of them, never `sum`. */
export function installationMetrics(
  sample: (FleetSample & { readonly ageMs: number }) | undefined,
  maxNames: number,
): MetricFamily[] {
  if (!sample) return [];
  const environments = new Map(sample.environments.map((row) => [row.env, labelsOf(row)]));
  const envOf = (env: number): Labels => ({
    ...(environments.get(env) ?? { project: 'unknown', environment: String(env) }),
  });
  const listed = firstNames(
    [...sample.queues, ...sample.executing].map(({ env, queue }) => `${env} ${queue}`),
    maxNames,
  );
  const queueOf = ({ env, queue }: { readonly env: number; readonly queue: string }): string =>
    listed.has(`${env} ${queue}`) ? queue : 'other';
  const queues = sample.queues.map((row) => ({
    labels: { ...envOf(row.env), queue: queueOf(row), state: row.state },
    ...row,
  }));
  const pools = sample.pools.map(({ env, pool, ...row }) => ({
    labels: { ...envOf(env), pool: pool || 'default' },
    ...row,
  }));
  const gauge = (name: string, help: string, samples: readonly Sample[]): MetricFamily => ({
    name,
    help,
    type: 'gauge',
    samples,
  });
  const waitingFor = (what: FleetSample['waiting'][number]['what']): Sample[] =>
    sample.waiting
      .filter((row) => row.what === what)
      .map(({ env, count }) => ({ labels: envOf(env), value: count }));

  return [
    gauge(
      'millrace_runs_waiting',
      'Runs waiting in a queue: ready for a runner, limited by their queue, or paused.',
      combined(
        queues.map(({ labels, waiting }) => ({ labels, value: waiting })),
        (a, b) => a + b,
      ),
    ),
    gauge(
      'millrace_queue_oldest_age_seconds',
      'Wait time of the first run of a queue.',
      combined(
        queues.map(({ labels, oldestMs }) => ({ labels, value: oldestMs / 1_000 })),
        Math.max,
      ),
    ),
    gauge(
      'millrace_runs_executing',
      'Attempts that occupy a slot.',
      combined(
        sample.executing.map((row) => ({
          labels: { ...envOf(row.env), queue: queueOf(row) },
          value: row.count,
        })),
        (a, b) => a + b,
      ),
    ),
    gauge('millrace_runs_delayed', 'Delayed runs.', waitingFor('delayed')),
    gauge('millrace_runs_retrying', 'Runs waiting for their next attempt.', waitingFor('retrying')),
    gauge(
      'millrace_runs_pending_version',
      'Runs waiting for a version with their task.',
      waitingFor('pending_version'),
    ),
    gauge('millrace_runs_suspended', 'Runs suspended at a wait, without a slot.', waitingFor('suspended')),
    gauge(
      'millrace_runners',
      'Connected runners, by labels.',
      pools.map(({ labels, runners }) => ({ labels, value: runners })),
    ),
    gauge(
      'millrace_slots_used',
      'Runner slots in use.',
      pools.map(({ labels, used }) => ({ labels, value: used })),
    ),
    gauge(
      'millrace_slots_free',
      'Free runner slots, excluding runners that are stopping or drained.',
      pools.map(({ labels, slots, used }) => ({ labels, value: Math.max(0, slots - used) })),
    ),
    gauge(
      'millrace_error_groups',
      'Error groups by status.',
      sample.errors.map(({ env, status, count }) => ({ labels: { ...envOf(env), status }, value: count })),
    ),
    gauge('millrace_schedule_lag_seconds', 'Delay of the most overdue schedule.', [
      { labels: {}, value: sample.scheduleLagMs / 1_000 },
    ]),
    gauge('millrace_channels', 'Channels, estimated from PostgreSQL statistics.', [
      { labels: {}, value: sample.channels },
    ]),
    gauge('millrace_sample_age_seconds', 'Age of the installation metrics.', [
      { labels: {}, value: sample.ageMs / 1_000 },
    ]),
    gauge('millrace_sample_duration_seconds', 'Time taken to collect the installation metrics.', [
      { labels: {}, value: sample.tookMs / 1_000 },
    ]),
  ];
}

/** The first names in alphabetical order, so that every process chooses the same ones. */
const firstNames = (names: readonly string[], max: number): Set<string> =>
  new Set([...new Set(names)].toSorted().slice(0, max));

/** One sample for each set of labels. */
function combined(samples: readonly Sample[], combine: (a: number, b: number) => number): Sample[] {
  const byLabels = new Map<string, Sample>();
  for (const sample of samples) {
    const key = JSON.stringify(sample.labels);
    const other = byLabels.get(key);
    byLabels.set(key, other ? { ...other, value: combine(other.value, sample.value) } : sample);
  }
  return [...byLabels.values()];
}
