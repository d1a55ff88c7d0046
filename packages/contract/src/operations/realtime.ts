import { z } from 'zod';
import { operation } from '../operation.ts';
import { parseDuration } from '../duration.ts';
import { runId } from './runs.ts';
import { commaList } from './shapes.ts';

/** Maximum number of tags, or tasks, in a subscription. */
const maxNamed = 10;

const named = commaList.pipe(z.array(z.string().max(128)).max(maxNamed));
const someTags = commaList.pipe(z.array(z.string().max(128)).min(1, 'send at least one tag').max(maxNamed));

/** The maximum age of a run. Longer times are reduced to seven days. */
const createdAt = z
  .string()
  .transform((text, context) => {
    const ms = parseDuration(text);
    if (typeof ms === 'number' && ms > 0) return Math.min(ms, 7 * 86_400_000);
    context.addIssue({
      code: 'custom',
      message: typeof ms === 'number' ? 'at least 1s' : ms.error,
    });
    return z.NEVER;
  })
  .default(86_400_000);

export const columns = {
  /** Columns to leave out, separated by commas. The id, task, status and creation time of a run are always included. */
  skipColumns: commaList.optional(),
};

/** The position of a client of the shape protocol. */
const position = {
  /** Only these columns, quoted or not. */
  columns: commaList.optional(),
  offset: z.string().max(128).default('-1'),
  handle: z.string().max(128).optional(),
  /** The name of the handle in older clients. */
  shape_id: z.string().max(128).optional(),
  cursor: z.string().max(128).optional(),
  live: z.enum(['true', 'false']).default('false'),
};

export const manyRuns = { tags: someTags, tasks: named.optional(), createdAt };

export const batchId = z.object({ batchId: z.string().min(1).max(128) });

const reading = {
  method: 'GET',
  tag: 'realtime',
  errors: [404, 409, 429],
  reply: z.array(z.looseObject({ headers: z.record(z.string(), z.unknown()) })),
} as const;

export const readsRuns = {
  secretKey: true,
  publicToken: true,
  action: 'read',
  on: 'runs',
  objects: true,
} as const;
export const readsBatch = {
  secretKey: true,
  publicToken: true,
  action: 'read',
  on: 'batch',
  objects: true,
} as const;

export const shapeRun = operation({
  ...reading,
  id: 'shapeRun',
  path: '/realtime/v1/runs/:runId',
  summary: 'Follow a run, in the shape protocol',
  access: readsRuns,
  params: runId,
  query: z.object({ ...position, ...columns }),
});

export const shapeRuns = operation({
  ...reading,
  id: 'shapeRuns',
  path: '/realtime/v1/runs',
  summary: 'Follow the runs that have all of the given tags, in the shape protocol',
  access: readsRuns,
  query: z.object({ ...position, ...columns, ...manyRuns }),
});

export const shapeBatch = operation({
  ...reading,
  id: 'shapeBatch',
  path: '/realtime/v1/batches/:batchId',
  summary: 'Follow the runs of a batch, in the shape protocol',
  access: readsBatch,
  params: batchId,
  query: z.object({ ...position, ...columns }),
});
