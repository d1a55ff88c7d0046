import { z } from 'zod';
import { operation } from '../operation.ts';
import { machinePresets } from '../runner/manifest.ts';
import { eventInstant } from './events.ts';
import { commaList, cursors, date, instant, oneOfList, pageSize, period } from './shapes.ts';

/** Maximum body size of a session, in bytes. */
export const sessionBodyLimit = 32_768;
/** Maximum number of characters of a session's external id. */
export const maxExternalIdCharacters = 256;

const isStorable = (text: string): boolean => !text.includes('\u0000') && text.isWellFormed();
const words = (max: number) =>
  z.string().min(1).max(max).refine(isStorable, 'must not contain NUL or an unpaired surrogate');

const externalId = z
  .string()
  .trim()
  .pipe(
    words(maxExternalIdCharacters)
      .refine(
        (id) => !id.startsWith('session_'),
        'must not begin with session_, which is reserved for session ids',
      )
      .refine((id) => id !== '.' && id !== '..', 'must not be . or .., which are not allowed in a URL path'),
  );
const tags = (max: number) => z.array(words(128)).max(max);
const metadata = z
  .record(z.string(), z.unknown())
  .refine((value) => isStorable(JSON.stringify(value)), 'must not contain an unpaired surrogate');

const moment = z.union([z.string(), z.number()]).transform((value, context) => {
  const at = eventInstant(value);
  if (at !== undefined && at >= 0) return new Date(at);
  context.addIssue({
    code: 'custom',
    message:
      'not a date from 1970 on; send ISO 8601, such as 2026-01-15T12:00:00Z, or milliseconds since 1970',
  });
  return z.NEVER;
});

/** How the runs that serve a session are started. */
export const sessionTriggerConfig = z.object({
  /** The payload of every run, in addition to `sessionId`; a continuation run also gets `continuation` and `previousRunId`. */
  basePayload: z.record(z.string(), z.unknown()),
  machine: z.enum(machinePresets).optional(),
  queue: words(128).optional(),
  tags: tags(5).optional(),
  maxAttempts: z.number().int().min(1).max(10).optional(),
  /** Seconds. */
  maxDuration: z.number().int().min(1).optional(),
  lockToVersion: z.string().optional(),
  region: z.string().optional(),
  idleTimeoutInSeconds: z.number().int().min(1).max(3_600).optional(),
});
export type SessionTriggerConfig = z.output<typeof sessionTriggerConfig>;

export const sessionStatuses = ['ACTIVE', 'CLOSED', 'EXPIRED'] as const;
export type SessionStatus = (typeof sessionStatuses)[number];

/** A list item. */
export const listedSession = z.object({
  id: z.string(),
  /** The client's own name for it. */
  externalId: z.string().nullable(),
  /** The client's own label, such as `chat.agent`. */
  type: z.string(),
  taskIdentifier: z.string(),
  /** The run that serves it, or last served it. */
  currentRunId: z.string().nullable(),
  tags: z.array(z.string()),
  metadata: z.record(z.string(), z.unknown()).nullable(),
  closedAt: date.nullable(),
  closedReason: z.string().nullable(),
  /** When it expires and accepts no more messages. */
  expiresAt: date.nullable(),
  createdAt: date,
  updatedAt: date,
});
export type ListedSession = z.infer<typeof listedSession>;

export const session = listedSession.extend({ triggerConfig: sessionTriggerConfig });
export type Session = z.infer<typeof session>;

export const createdSession = session.extend({
  /** The run that serves it. */
  runId: z.string(),
  /** Can read its `.out` and write its `.in`, for an hour. */
  publicAccessToken: z.string(),
  /** Whether a session with this external id already existed. */
  isCached: z.boolean(),
});
export type CreatedSession = z.infer<typeof createdSession>;

export const createSession = operation({
  id: 'createSession',
  method: 'POST',
  path: '/api/v1/sessions',
  tag: 'sessions',
  summary: 'Start a session and the run that serves it, or resume the session with this external id',
  access: { secretKey: true, publicToken: true, action: 'write', on: 'sessions', objects: true },
  body: z.object({
    type: words(64),
    taskIdentifier: words(128),
    triggerConfig: sessionTriggerConfig,
    externalId: externalId.optional(),
    tags: tags(10).optional(),
    metadata: metadata.optional(),
    /** ISO 8601, or milliseconds since 1970. */
    expiresAt: moment.optional(),
  }),
  bodyLimit: sessionBodyLimit,
  status: 201,
  reply: createdSession,
  errors: [409, 413, 422],
});

const list = z
  .object({
    'page[size]': pageSize(20),
    /** The id of a session. */
    'page[after]': z.string().optional(),
    'page[before]': z.string().optional(),
    'filter[type]': commaList.optional(),
    /** Sessions with any of these tags. */
    'filter[tags]': commaList.optional(),
    'filter[taskIdentifier]': commaList.optional(),
    'filter[externalId]': z.string().optional(),
    'filter[status]': oneOfList(sessionStatuses).optional(),
    /** Takes precedence over from and to. */
    'filter[createdAt][period]': period.optional(),
    'filter[createdAt][from]': instant.optional(),
    'filter[createdAt][to]': instant.optional(),
  })
  .refine((query) => query['page[after]'] === undefined || query['page[before]'] === undefined, {
    message: 'cannot be combined with page[after]',
    path: ['page[before]'],
  });

export const listSessions = operation({
  id: 'listSessions',
  method: 'GET',
  path: '/api/v1/sessions',
  tag: 'sessions',
  summary: 'List sessions, newest first',
  access: { secretKey: true, publicToken: true, action: 'read', on: 'sessions', objects: true },
  query: list,
  reply: z.object({ data: z.array(listedSession), pagination: cursors }),
});

/** `session` is a session's id or its external id. A value that begins with `session_` is an id. */
const sessionParams = z.object({ session: z.string().min(1).max(maxExternalIdCharacters) });

export const retrieveSession = operation({
  id: 'retrieveSession',
  method: 'GET',
  path: '/api/v1/sessions/:session',
  tag: 'sessions',
  summary: 'Retrieve a session',
  access: { secretKey: true, publicToken: true, action: 'read', on: 'sessions', objects: true },
  params: sessionParams,
  reply: session,
  errors: [404],
});

const bySecretKey = {
  secretKey: true,
  forbidsPublicToken: true,
  action: 'admin',
  on: 'sessions',
  objects: true,
} as const;

export const updateSession = operation({
  id: 'updateSession',
  method: 'PATCH',
  path: '/api/v1/sessions/:session',
  tag: 'sessions',
  summary: 'Replace the tags or the metadata of a session',
  access: bySecretKey,
  cors: true,
  params: sessionParams,
  body: z.object({
    tags: tags(10).optional(),
    /** Null clears it. */
    metadata: metadata.nullable().optional(),
    /** Cannot be changed: only the existing value is accepted. */
    externalId: z.string().nullable().optional(),
  }),
  bodyLimit: sessionBodyLimit,
  reply: session,
  errors: [404, 413, 422],
});

export const closeSession = operation({
  id: 'closeSession',
  method: 'POST',
  path: '/api/v1/sessions/:session/close',
  tag: 'sessions',
  summary: 'Close a session: nothing more can be appended; its run continues',
  access: bySecretKey,
  cors: true,
  params: sessionParams,
  body: z.object({ reason: words(256).optional() }),
  bodyLimit: 1_024,
  reply: session,
  errors: [404],
});

export const continueSession = operation({
  id: 'continueSession',
  method: 'POST',
  path: '/api/v1/sessions/:session/end-and-continue',
  tag: 'sessions',
  summary: 'Transfer a session from the calling run to another run',
  access: {
    secretKey: true,
    publicToken: true,
    action: 'write',
    on: 'sessions',
    objects: true,
    browser: false,
  },
  params: sessionParams,
  body: z.object({ callingRunId: z.string().min(1), reason: words(64) }),
  bodyLimit: 4_096,
  reply: z.object({
    /** The run that now serves it. */
    runId: z.string(),
    /** False if a run other than the calling one serves the session. */
    swapped: z.boolean(),
  }),
  errors: [404],
});

const snapshot = {
  path: '/api/v1/sessions/:session/snapshot-url',
  tag: 'sessions',
  params: sessionParams,
  reply: z.object({
    /** Where its content is uploaded (PUT) or downloaded (GET), for five minutes and without a credential. 404 if it has no content. */
    presignedUrl: z.string(),
  }),
  errors: [404],
} as const;

export const retrieveSessionSnapshot = operation({
  ...snapshot,
  id: 'retrieveSessionSnapshot',
  method: 'GET',
  summary: 'Create a download URL for the latest stored state of a session, to resume its conversation',
  access: {
    secretKey: true,
    forbidsPublicToken: true,
    action: 'read',
    on: 'sessions',
    objects: true,
    browser: false,
  },
});

export const storeSessionSnapshot = operation({
  ...snapshot,
  id: 'storeSessionSnapshot',
  method: 'PUT',
  summary:
    "Create an upload URL for the state that a session's task needs to resume its conversation; replaces the previous one",
  access: {
    secretKey: true,
    forbidsPublicToken: true,
    action: 'write',
    on: 'sessions',
    objects: true,
    browser: false,
  },
});
