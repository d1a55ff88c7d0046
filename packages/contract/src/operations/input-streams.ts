import { z } from 'zod';
import { maxJsonMembers } from '../json.ts';
import { operation, type EventStreamReply } from '../operation.ts';
import { appendBodyLimit } from './channels.ts';

const path = '/realtime/v1/streams/:runId/input/:stream';
const input = {
  path,
  tag: 'streams',
  params: z.object({ runId: z.string().min(1).max(128), stream: z.string().min(1).max(200) }),
} as const;

export const sendToInputStream = operation({
  ...input,
  id: 'sendToInputStream',
  method: 'POST',
  summary: 'Send a message to an input stream of a run',
  access: { secretKey: true, publicToken: true, action: 'write', on: 'runs', objects: true, browser: false },
  body: z.object({ data: z.unknown() }),
  bodyLimit: appendBodyLimit,
  maxMembers: maxJsonMembers,
  reply: z.object({ ok: z.literal(true) }),
  errors: [404, 413],
});

export const openInputStream = operation({
  ...input,
  id: 'openInputStream',
  method: 'PUT',
  summary: 'Create an input stream of a run, before its code waits for a message',
  access: { secretKey: true, action: 'write', on: 'runs', objects: true, browser: false },
  reply: z.object({ ok: z.literal(true) }),
  errors: [404],
});

export const followInputStream = operation({
  ...input,
  id: 'followInputStream',
  method: 'GET',
  summary: 'Follow the messages of an input stream, as server-sent events',
  access: { secretKey: true, action: 'read', on: 'runs', objects: true },
  streams: true,
  reply: z.custom<EventStreamReply>(),
  errors: [404, 429],
});
