import { z } from 'zod';
import { operation, type EventStreamReply } from '../operation.ts';
import { batchId, columns, manyRuns, readsBatch, readsRuns } from './realtime.ts';
import { runId } from './runs.ts';

const following = {
  method: 'GET',
  tag: 'realtime',
  streams: true,
  errors: [404, 429],
  reply: z.custom<EventStreamReply>(),
} as const;

export const followRun = operation({
  ...following,
  id: 'followRun',
  path: '/realtime/v1/runs/:runId/events',
  summary: 'Follow a run until it ends, as server-sent events',
  access: readsRuns,
  params: runId,
  query: z.object(columns),
});

export const followRuns = operation({
  ...following,
  id: 'followRuns',
  path: '/realtime/v1/runs/events',
  summary: 'Follow the runs that have all of the given tags, as server-sent events',
  access: readsRuns,
  query: z.object({ ...columns, ...manyRuns }),
});

export const followBatch = operation({
  ...following,
  id: 'followBatch',
  path: '/realtime/v1/batches/:batchId/events',
  summary: 'Follow the runs of a batch until all have ended, as server-sent events',
  access: readsBatch,
  params: batchId,
  query: z.object(columns),
});
