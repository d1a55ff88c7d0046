import { z } from 'zod';
import { operation } from '../operation.ts';
import { date, instant, keyOf, period } from './shapes.ts';

/** By what runs are divided into series. */
export const statsDivisions = ['task', 'queue', 'version'] as const;
export type StatsDivision = (typeof statsDivisions)[number];

/** In which order series are found. */
export const statsSorts = ['runs', 'success'] as const;
export type StatsSort = (typeof statsSorts)[number];

const count = z.number().int();

/** Times, in milliseconds. Quantiles are at most 9 % off; null if nothing was measured. */
export const statsTimes = z.object({
  count,
  average: z.number().nullable(),
  p50: z.number().nullable(),
  p95: z.number().nullable(),
  p99: z.number().nullable(),
});
export type StatsTimes = z.infer<typeof statsTimes>;

/** What happened in some time. */
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
  /** Attempts that failed and are followed by another one. */
  retried: count,
  /** Error groups that began, and those that came back after they were resolved. Not by queue or version. */
  newErrors: count,
  regressedErrors: count,
  /** Time in the queue before each attempt. */
  wait: statsTimes,
  /** From the hand-over of an attempt to its end, without its waits. */
  duration: statsTimes,
  /** The most runs that waited at once, and the longest that the oldest of them had waited, in milliseconds. Null without a sample. */
  waiting: count.nullable(),
  oldestMs: count.nullable(),
});
export type StatsCounts = z.infer<typeof statsCounts>;

export const statsSeries = z.object({
  /** The task, queue or version; null for the whole environment. */
  name: z.string().nullable(),
  total: statsCounts,
  /** One for each step, oldest first, also where nothing happened. */
  points: z.array(statsCounts.extend({ at: date })),
});
export type StatsSeries = z.infer<typeof statsSeries>;

const text = keyOf(512).min(1);

export const retrieveStats = operation({
  id: 'retrieveStats',
  method: 'GET',
  path: '/api/v1/stats',
  tag: 'runs',
  summary: 'Time series: runs by status, throughput, waiting runs and percentiles of times',
  access: { secretKey: true, action: 'read', on: 'runs' },
  query: z.object({
    /** Of one task. At most one of `task`, `queue`, `version` and `by`. */
    task: text.optional(),
    /** Of one queue by its name; `task/<id>` is a task's own. */
    queue: text.optional(),
    version: text.optional(),
    /** A series for each of the first tasks, queues or versions in the order of `sort`. */
    by: z.enum(statsDivisions).optional(),
    /** Series with `by`. */
    limit: z.coerce.number().int().min(1).max(20).default(10),
    /** Which series with `by`: those with the most runs, or with the lowest share of successful runs. */
    sort: z.enum(statsSorts).default('runs'),
    /** Up to now; wins over `from` and `to`. Default 24h. */
    period: period.optional(),
    from: instant.optional(),
    to: instant.optional(),
    /** Whole minutes, such as `5m`, `1h` or `1d`. Default: what fits the range. */
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
