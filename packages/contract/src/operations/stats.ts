import { z } from 'zod';
import { operation } from '../operation.ts';
import { date, instant, keyOf, period } from './shapes.ts';

/** The field by which runs are divided into series. */
export const statsDivisions = ['task', 'queue', 'version'] as const;
export type StatsDivision = (typeof statsDivisions)[number];

/** The orders in which series are selected. */
export const statsSorts = ['runs', 'success'] as const;
export type StatsSort = (typeof statsSorts)[number];

const count = z.number().int();

/** Times, in milliseconds. Quantiles are at most 9% off; null if nothing was measured. */
export const statsTimes = z.object({
  count,
  average: z.number().nullable(),
  p50: z.number().nullable(),
  p95: z.number().nullable(),
  p99: z.number().nullable(),
});
export type StatsTimes = z.infer<typeof statsTimes>;

/** The counts of a period. */
export const statsCounts = z.object({
  /** Runs that were created. */
  triggered: count,
  /** Runs that ended with this status. */
  completed: count,
  failed: count,
  crashed: count,
  systemFailure: count,
  timedOut: count,
  canceled: count,
  expired: count,
  /** Attempts that failed and were retried. */
  retried: count,
  /** New error groups, and groups that recurred after they were resolved. Not available by queue or version. */
  newErrors: count,
  regressedErrors: count,
  /** Time in the queue before each attempt. */
  wait: statsTimes,
  /** From the start of an attempt on a runner to its end, excluding its waits. */
  duration: statsTimes,
  /** Peak number of waiting runs, and peak age of the oldest of them in milliseconds. Null without a sample. */
  waiting: count.nullable(),
  oldestMs: count.nullable(),
});
export type StatsCounts = z.infer<typeof statsCounts>;

export const statsSeries = z.object({
  /** The task, queue or version; null for the whole environment. */
  name: z.string().nullable(),
  total: statsCounts,
  /** One for each step, oldest first, including empty ones. */
  points: z.array(statsCounts.extend({ at: date })),
});
export type StatsSeries = z.infer<typeof statsSeries>;

const text = keyOf(512).min(1);

export const retrieveStats = operation({
  id: 'retrieveStats',
  method: 'GET',
  path: '/api/v1/stats',
  tag: 'runs',
  summary: 'Retrieve time series: runs by status, throughput, waiting runs and duration percentiles',
  access: { secretKey: true, action: 'read', on: 'runs' },
  query: z.object({
    /** Only one task. At most one of `task`, `queue`, `version` and `by`. */
    task: text.optional(),
    /** Only one queue, by name; `task/<id>` is a task's own. */
    queue: text.optional(),
    version: text.optional(),
    /** One series for each of the first tasks, queues or versions in the order of `sort`. */
    by: z.enum(statsDivisions).optional(),
    /** Number of series with `by`. */
    limit: z.coerce.number().int().min(1).max(20).default(10),
    /** The series selected with `by`: those with the most runs, or with the lowest share of successful runs. */
    sort: z.enum(statsSorts).default('runs'),
    /** A range up to now; takes precedence over `from` and `to`. Default 24h. */
    period: period.optional(),
    from: instant.optional(),
    to: instant.optional(),
    /** Whole minutes, such as `5m`, `1h` or `1d`. Default: depends on the range. */
    step: period.optional(),
  }),
  reply: z.object({
    from: date,
    to: date,
    stepMs: count,
    series: z.array(statsSeries),
  }),
  errors: [400],
});
export type Stats = z.infer<typeof retrieveStats.reply>;
