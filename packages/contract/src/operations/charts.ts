import { z } from 'zod';
import { operation } from '../operation.ts';
import { parsePeriodMs } from '../period.ts';
import { date, environmentInPath, keyOf, nameOf } from './shapes.ts';

/** Maximum number of saved charts in an environment. */
export const maxCharts = 100;

/** The figures that a chart shows: counts, a share, milliseconds, and the peak number of waiting runs. */
export const chartMeasures = [
  'runs',
  'completed',
  'failures',
  'failureRate',
  'retries',
  'durationP50',
  'durationP95',
  'waitP50',
  'waitP95',
  'waiting',
] as const;
export type ChartMeasure = (typeof chartMeasures)[number];

export const chartDivisions = ['task', 'queue', 'version', 'status'] as const;
export type ChartDivision = (typeof chartDivisions)[number];

export const chartForms = ['line', 'bars', 'table', 'number'] as const;
export type ChartForm = (typeof chartForms)[number];

/** The longest period, as long as statistics are retained. */
const maxPeriodMs = 730 * 86_400_000;

const period = z.string().refine((text) => {
  const ms = parsePeriodMs(text);
  return typeof ms === 'number' && ms >= 60_000 && ms <= maxPeriodMs;
}, 'must be a period from 1m to 730d, such as 24h or 30d');

const settings = {
  name: nameOf(128),
  measure: z.enum(chartMeasures),
  /** One series for each of the seven tasks, queues or versions with the most runs, or for each final status. Null: one series. */
  by: z.enum(chartDivisions).nullable(),
  /** Only one task, queue or version; at most one of them. */
  task: keyOf(128).min(1).nullable(),
  queue: keyOf(128).min(1).nullable(),
  version: keyOf(128).min(1).nullable(),
  /** The period up to now, such as `24h`. */
  period,
  form: z.enum(chartForms),
  /** Whether the overview shows it to everybody. */
  isPinned: z.boolean(),
};

/** A question over the statistics of an environment, with the form of its answer. */
export const chart = z.object({
  /** `chart_…` */
  id: z.string(),
  ...settings,
  createdAt: date,
  updatedAt: date,
});
export type Chart = z.infer<typeof chart>;

const oneChart = environmentInPath.extend({ chartId: z.string().min(1).max(128) });

const read = { personalAccessToken: true, role: 'viewer' } as const;
const write = { personalAccessToken: true, role: 'member' } as const;
const root = '/api/v1/projects/:projectRef/charts/:env';
const tag = 'projects';

export const createChart = operation({
  id: 'createChart',
  method: 'POST',
  path: root,
  tag,
  summary: 'Save a chart of the statistics for the members of the project',
  access: write,
  params: environmentInPath,
  body: z.object({
    ...settings,
    by: settings.by.default(null),
    task: settings.task.default(null),
    queue: settings.queue.default(null),
    version: settings.version.default(null),
    isPinned: settings.isPinned.default(false),
  }),
  reply: chart,
  errors: [404, 422],
});

export const listCharts = operation({
  id: 'listCharts',
  method: 'GET',
  path: root,
  tag,
  summary: 'List the saved charts of an environment, oldest first',
  access: read,
  params: environmentInPath,
  reply: z.object({ data: z.array(chart) }),
  errors: [404],
});

export const updateChart = operation({
  id: 'updateChart',
  method: 'PATCH',
  path: `${root}/:chartId`,
  tag,
  summary: 'Update a saved chart; omitted fields remain unchanged',
  access: write,
  params: oneChart,
  body: z.object(settings).partial(),
  reply: chart,
  errors: [404, 422],
});

export const deleteChart = operation({
  id: 'deleteChart',
  method: 'DELETE',
  path: `${root}/:chartId`,
  tag,
  summary: 'Delete a saved chart',
  access: write,
  params: oneChart,
  reply: z.object({ id: z.string() }),
  errors: [404],
});
