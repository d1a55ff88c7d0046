import { z } from 'zod';
import { operation, type EventStreamReply } from '../operation.ts';
import { logLine, ofLine, runId } from './runs.ts';
import { commaList, instant, pageSize, period } from './shapes.ts';

/** Which lines. All that are given must match. */
const lineFilters = { 'filter[task]': commaList.optional(), ...ofLine };

/** A line with where it comes from. */
export const foundLine = logLine.extend({
  /** Its place among all lines of the environment, in the order of their arrival. */
  id: z.number().int(),
  runId: z.string(),
  taskIdentifier: z.string(),
});
export type FoundLine = z.infer<typeof foundLine>;

export const searchLogs = operation({
  id: 'searchLogs',
  method: 'GET',
  path: '/api/v1/logs',
  tag: 'logs',
  summary: 'Search the log lines of all runs, newest first',
  access: { secretKey: true, action: 'read', on: 'runs' },
  query: z.object({
    ...lineFilters,
    'filter[createdAt][from]': instant.optional(),
    'filter[createdAt][to]': instant.optional(),
    /** Wins over from and to. Without any of the three: all that are stored. */
    'filter[createdAt][period]': period.optional(),
    'page[size]': pageSize(100, 1_000),
    'page[after]': z.coerce.number().int().min(1).optional(),
  }),
  reply: z.object({
    data: z.array(foundLine),
    /** With `next` the search goes on, even if this page has few lines: a page takes a fraction of a second. */
    pagination: z.object({ next: z.string().optional() }),
  }),
});

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
