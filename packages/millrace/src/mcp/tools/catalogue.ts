import { z } from 'zod';
import { reads } from '../tool.ts';
import { limitOf, nextOutput } from './views.ts';

const taskInput = z.string().min(1).max(128).describe('Task ID.');
const named = z.looseObject({ id: z.string() });
const pageInput = z.number().int().min(1).default(1).describe('Page number, from 1.');

/** More would leave no room for other data in a result. */
const maxTasks = 200;

export const listTasks = reads({
  name: 'list_tasks',
  title: 'List tasks',
  description: 'Lists the tasks of the current version. read_task returns the payload schema of a task.',
  input: { search: z.string().max(128).optional().describe('Text in the ID or the description.') },
  output: { tasks: z.array(named) },
  rest: 'Use `search` to find fewer tasks.',
  async read({ search }, { client }) {
    const text = search?.toLowerCase() ?? '';
    const all = await client.tasks.list();
    const found = all.filter(({ id, description = '' }) =>
      `${id}\n${description}`.toLowerCase().includes(text),
    );
    return {
      tasks: found.slice(0, maxTasks).map(({ id, description, queue, schedule }) => ({
        id,
        ...(description !== undefined && { description }),
        queue: queue.name,
        ...(schedule && { schedule }),
      })),
      ...(found.length > maxTasks && { more: `${found.length - maxTasks} more tasks: use \`search\`.` }),
    };
  },
});

export const readTask = reads({
  name: 'read_task',
  title: 'Read a task',
  description:
    'Returns one task: the JSON Schema of its payload, its settings, and statistics of its latest runs. Call it before trigger_task.',
  input: { task: taskInput },
  output: { task: named, payloadSchema: z.unknown().describe('JSON Schema; null if the task has none.') },
  rest: 'The dashboard shows the complete schema.',
  async read({ task: id }, { client }) {
    const { payloadSchema, recent, lastRuns, ...task } = await client.tasks.retrieve(id);
    return { task, payloadSchema, recent, lastRuns };
  },
});

export const listQueues = reads({
  name: 'list_queues',
  title: 'List queues',
  description:
    'Lists queues by name, with their running and queued runs, their limits, and whether they are paused.',
  input: { limit: limitOf(50, 25), page: pageInput },
  output: { queues: z.array(named), next: nextOutput },
  rest: 'Request fewer queues with `limit`.',
  async read({ limit, page }, { client }) {
    const { data, next } = await client.queues.list({ page, perPage: limit });
    return { queues: data, ...(next !== undefined && { next }) };
  },
});

export const listSchedules = reads({
  name: 'list_schedules',
  title: 'List schedules',
  description: 'Lists schedules with their task, cron expression and next run.',
  input: { limit: limitOf(50, 25), page: pageInput },
  output: { schedules: z.array(named), next: nextOutput },
  rest: 'Request fewer schedules with `limit`.',
  async read({ limit, page }, { client }) {
    const { data, next } = await client.schedules.list({ page, perPage: limit });
    return { schedules: data, ...(next !== undefined && { next }) };
  },
});

export const readStatistics = reads({
  name: 'read_statistics',
  title: 'Read statistics',
  description:
    'Counts runs by status over time, with percentiles of duration and queue time in milliseconds, and the peak number of waiting runs. For the environment, one task, queue or version, or with `by` for the largest of each.',
  input: {
    period: z.string().default('24h').describe('Period up to now, such as 2h, 24h or 7d.'),
    step: z
      .string()
      .optional()
      .describe('Interval between points, such as 5m, 1h or 1d. Default: about 12 points.'),
    task: taskInput.optional(),
    queue: z.string().optional().describe('Queue name; task/<id> is the queue of a task.'),
    version: z.string().optional(),
    by: z.enum(['task', 'queue', 'version']).optional().describe('Totals for each of the 5 largest.'),
  },
  output: { series: z.array(z.looseObject({ total: z.unknown() })) },
  rest: 'Request a shorter `period` or a wider `step`.',
  async read({ by, step, ...params }, { client }) {
    const defined = Object.entries({ ...params, step, by }).filter(([, value]) => value !== undefined);
    const { from, to, stepMs, series } = await client.stats.retrieve({
      ...Object.fromEntries(defined),
      ...(by && { limit: 5 }),
    });
    return {
      from,
      to,
      stepMs,
      series: series.map(({ name, total, points }) => ({
        name,
        total,
        // Points of several series would fill the whole result.
        ...(by
          ? {}
          : { points: points.filter(({ triggered, waiting }) => triggered > 0 || (waiting ?? 0) > 0) }),
      })),
    };
  },
});
