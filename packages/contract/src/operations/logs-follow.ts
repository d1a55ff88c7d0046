import { z } from 'zod';
import { operation, type EventStreamReply } from '../operation.ts';
import { lineFilters, ofLine } from './logs.ts';
import { runId } from './runs.ts';

export const followLogs = operation({
  id: 'followLogs',
  method: 'GET',
  path: '/realtime/v1/logs/events',
  tag: 'logs',
  summary: 'Follow the log lines of all runs, as server-sent events',
  access: { secretKey: true, action: 'read', on: 'runs' },
  query: z.object(lineFilters),
  reply: z.custom<EventStreamReply>(),
  streams: true,
  errors: [429],
});

export const followRunLogs = operation({
  id: 'followRunLogs',
  method: 'GET',
  path: '/realtime/v1/runs/:runId/logs/events',
  tag: 'logs',
  summary: 'Follow the log lines of a run, as server-sent events; ends with the run',
  access: { secretKey: true, publicToken: true, action: 'read', on: 'runs', objects: true },
  params: runId,
  query: z.object(ofLine),
  reply: z.custom<EventStreamReply>(),
  streams: true,
  errors: [404, 429],
});
