import { z } from 'zod';
import { maxJsonMembers } from '../json.ts';
import { operation, type EventStreamReply } from '../operation.ts';
import { appendBodyLimit, maxRecordsAtOnce } from './channels.ts';

const streamName = z.string().min(1).max(256);
const read = z.object({ runId: z.string().min(1).max(128), stream: streamName });
/** The run of the stream: the given run, its parent, or the root of its tree. */
const write = read.extend({ target: z.enum(['self', 'parent', 'root']) });

const writing = {
  tag: 'streams',
  // Only code writes streams.
  access: { secretKey: true, action: 'write', on: 'runs', objects: true, browser: false },
  params: write,
  errors: [404, 413],
} as const;

export const initializeRunStream = operation({
  ...writing,
  id: 'initializeRunStream',
  method: 'PUT',
  path: '/realtime/v1/streams/:runId/:target/:stream',
  summary: 'Create a stream of a run, and return the address and credentials for appends',
  // It issues a token that can write for a day.
  access: { ...writing.access, forbidsRuns: true },
  status: 201,
  reply: z.object({ version: z.string() }),
});

export const appendToRunStream = operation({
  ...writing,
  id: 'appendToRunStream',
  method: 'POST',
  path: '/realtime/v1/streams/:runId/:target/:stream/append',
  summary: 'Append text to a stream of a run',
  body: z.string(),
  bodyText: true,
  bodyLimit: appendBodyLimit,
  reply: z.object({ ok: z.literal(true), seq: z.number().int() }),
});

export const writeRunStream = operation({
  ...writing,
  id: 'writeRunStream',
  method: 'POST',
  path: '/realtime/v1/streams/:runId/:target/:stream/records',
  summary: 'Append records to a stream of a run',
  body: z.object({
    records: z
      .array(z.object({ body: z.string() }))
      .min(1)
      .max(maxRecordsAtOnce),
  }),
  bodyLimit: 3 * appendBodyLimit,
  maxMembers: maxJsonMembers,
  reply: z.object({
    /** Number of the first record. */
    start: z.number().int(),
    /** One more than the number of the last record. */
    end: z.number().int(),
  }),
});

export const followRunStream = operation({
  id: 'followRunStream',
  method: 'GET',
  path: '/realtime/v1/streams/:runId/:stream',
  tag: 'streams',
  summary: 'Follow a stream of a run, as server-sent events',
  access: { secretKey: true, publicToken: true, action: 'read', on: 'runs', objects: true },
  params: read,
  streams: true,
  reply: z.custom<EventStreamReply>(),
  errors: [404, 429],
});
