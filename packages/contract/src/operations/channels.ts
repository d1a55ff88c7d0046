import { z } from 'zod';
import { maxJsonMembers } from '../json.ts';
import { operation, type EventStreamReply } from '../operation.ts';
import { maxExternalIdCharacters } from './sessions.ts';

/** Maximum size of a single appended text, in bytes. */
export const appendBodyLimit = 1_048_576;
/** Maximum number of records in one write. */
export const maxRecordsAtOnce = 1_000;

const sessionParams = z.object({ session: z.string().min(1).max(maxExternalIdCharacters) });
const side = sessionParams.extend({
  /** A channel in addition to the session's own two. */
  channel: z.string().regex(/^[\w-]{1,64}$/, 'up to 64 letters, digits, _ and -'),
});

const header = z.tuple([z.string(), z.string()]);

/** `write:sessions` writes `.in`; no public token can read it. */
const writesIn = {
  secretKey: true,
  publicToken: true,
  action: 'write',
  on: 'sessions',
  objects: true,
} as const;
const readsIn = {
  secretKey: true,
  forbidsPublicToken: true,
  action: 'read',
  on: 'sessions',
  objects: true,
} as const;
/** `read:sessions` reads `.out`; no public token can write it. */
const writesOut = {
  secretKey: true,
  forbidsPublicToken: true,
  action: 'write',
  on: 'sessions',
  objects: true,
  // Only the code of a task writes its output.
  browser: false,
} as const;
const readsOut = {
  secretKey: true,
  publicToken: true,
  action: 'read',
  on: 'sessions',
  objects: true,
} as const;

const appending = {
  method: 'POST',
  tag: 'sessions',
  cors: true,
  body: z.string(),
  bodyText: true,
  bodyLimit: appendBodyLimit,
  reply: z.object({
    ok: z.literal(true),
    /** The number of the record; of the first record if the header `X-Part-Id` matches an earlier append. */
    seq: z.number().int(),
  }),
  failure: { ok: false },
  errors: [404, 413],
} as const;

export const appendToSessionIn = operation({
  ...appending,
  id: 'appendToSessionIn',
  path: '/realtime/v1/sessions/:session/in/append',
  summary: "Append text to a session's input channel, and ensure that a run serves the session",
  access: writesIn,
  params: sessionParams,
});

export const appendToSessionOut = operation({
  ...appending,
  id: 'appendToSessionOut',
  path: '/realtime/v1/sessions/:session/out/append',
  summary: "Append text to a session's output channel",
  access: writesOut,
  params: sessionParams,
});

export const appendToSideIn = operation({
  ...appending,
  id: 'appendToSideIn',
  path: '/realtime/v1/sessions/:session/channels/:channel/in/append',
  summary: 'Append text to an input side channel',
  access: writesIn,
  params: side,
});

export const appendToSideOut = operation({
  ...appending,
  id: 'appendToSideOut',
  path: '/realtime/v1/sessions/:session/channels/:channel/out/append',
  summary: 'Append text to an output side channel',
  access: writesOut,
  params: side,
});

const writing = {
  method: 'POST',
  tag: 'sessions',
  cors: true,
  body: z.object({
    records: z
      .array(
        z.object({
          /** `{"data": …, "id": …}` as JSON text; empty in a control record. */
          body: z.string(),
          headers: z.array(header).optional(),
        }),
      )
      .min(1)
      .max(maxRecordsAtOnce),
    /** Rejected with 412 unless the first record gets this number. */
    matchSeqNum: z.number().int().min(0).optional(),
    /** Rejected with 412 unless it equals that of the channel. */
    fencingToken: z.string().max(64).optional(),
  }),
  bodyLimit: 3 * appendBodyLimit,
  maxMembers: maxJsonMembers,
  reply: z.object({
    /** Number of the first record. */
    start: z.number().int(),
    /** One more than the number of the last record. */
    end: z.number().int(),
    /** The number that the next record will have. */
    tail: z.number().int(),
  }),
  errors: [404, 412, 413],
} as const;

export const writeSessionOut = operation({
  ...writing,
  id: 'writeSessionOut',
  path: '/realtime/v1/sessions/:session/out/records',
  summary: "Append records with headers to a session's output channel",
  access: writesOut,
  params: sessionParams,
});

export const writeSideOut = operation({
  ...writing,
  id: 'writeSideOut',
  path: '/realtime/v1/sessions/:session/channels/:channel/out/records',
  summary: 'Append records with headers to an output side channel',
  access: writesOut,
  params: side,
});

const initializing = {
  method: 'PUT',
  tag: 'sessions',
  cors: true,
  status: 202,
  reply: z.object({ version: z.string() }),
  errors: [404, 501],
} as const;

export const initializeSessionIn = operation({
  ...initializing,
  id: 'initializeSessionIn',
  path: '/realtime/v1/sessions/:session/in',
  summary: "Retrieve the address and credentials for appends to a session's input channel",
  // It issues a token that can write for a day.
  access: { ...writesIn, forbidsRuns: true, browser: false },
  params: sessionParams,
});

export const initializeSessionOut = operation({
  ...initializing,
  id: 'initializeSessionOut',
  path: '/realtime/v1/sessions/:session/out',
  summary: "Retrieve the address and credentials for appends to a session's output channel",
  // It issues a token that can write for a day; in a run, until the end of the attempt.
  access: writesOut,
  params: sessionParams,
});

const looking = {
  method: 'HEAD',
  tag: 'sessions',
  cors: true,
  reply: z.null(),
  errors: [404],
} as const;

export const lookAtSessionIn = operation({
  ...looking,
  id: 'lookAtSessionIn',
  path: '/realtime/v1/sessions/:session/in',
  summary: "Retrieve the number of the input channel's last record, in a header",
  access: readsIn,
  params: sessionParams,
});

export const lookAtSessionOut = operation({
  ...looking,
  id: 'lookAtSessionOut',
  path: '/realtime/v1/sessions/:session/out',
  summary: "Retrieve the number of the output channel's last record, in a header",
  access: readsOut,
  params: sessionParams,
});

const subscribing = {
  method: 'GET',
  tag: 'sessions',
  cors: true,
  streams: true,
  reply: z.custom<EventStreamReply>(),
  errors: [404, 429],
} as const;

export const subscribeToSessionIn = operation({
  ...subscribing,
  id: 'subscribeToSessionIn',
  path: '/realtime/v1/sessions/:session/in',
  summary: "Follow a session's input channel, as server-sent events",
  access: readsIn,
  params: sessionParams,
});

export const subscribeToSessionOut = operation({
  ...subscribing,
  id: 'subscribeToSessionOut',
  path: '/realtime/v1/sessions/:session/out',
  summary: "Follow a session's output channel, as server-sent events",
  access: readsOut,
  params: sessionParams,
});

export const subscribeToSideIn = operation({
  ...subscribing,
  id: 'subscribeToSideIn',
  path: '/realtime/v1/sessions/:session/channels/:channel/in',
  summary: 'Follow an input side channel, as server-sent events',
  access: readsIn,
  params: side,
});

export const subscribeToSideOut = operation({
  ...subscribing,
  id: 'subscribeToSideOut',
  path: '/realtime/v1/sessions/:session/channels/:channel/out',
  summary: 'Follow an output side channel, as server-sent events',
  access: readsOut,
  params: side,
});

const draining = {
  method: 'GET',
  tag: 'sessions',
  cors: true,
  query: z.object({
    /** The number of the last known record. */
    afterEventId: z
      .string()
      .regex(/^\d{1,15}$/, 'digits: the number of a record')
      .transform(Number)
      .optional(),
  }),
  reply: z.object({
    records: z.array(
      z.object({
        /** The appended data; a string if it was a string. */
        data: z.unknown(),
        id: z.string(),
        seqNum: z.number().int(),
        headers: z.array(header).optional(),
      }),
    ),
  }),
  errors: [404],
} as const;

export const listSessionInRecords = operation({
  ...draining,
  id: 'listSessionInRecords',
  path: '/realtime/v1/sessions/:session/in/records',
  summary: "Retrieve the records of a session's input channel",
  access: readsIn,
  params: sessionParams,
});

export const listSessionOutRecords = operation({
  ...draining,
  id: 'listSessionOutRecords',
  path: '/realtime/v1/sessions/:session/out/records',
  summary: "Retrieve the records of a session's output channel",
  access: readsOut,
  params: sessionParams,
});
