import { z } from 'zod';
import { maxJsonMembers } from '../json.ts';
import { operation } from '../operation.ts';
import {
  commaList,
  cursors,
  date,
  idempotencyKey,
  instant,
  oneOfList,
  pageSize,
  period,
  tag,
  waitKey,
} from './shapes.ts';

export const waitpointStatuses = ['WAITING', 'COMPLETED', 'TIMED_OUT'] as const;

const tokenId = z.object({ waitpointId: z.string().min(1).max(128) });
export const dataLimit = 3_145_728;

/** Who completed a token: `id` is the user, the secret key, the event or the run; a public token and the token's URL have none. */
const tokenCompletion = z.object({
  type: z.enum(['user', 'secretKey', 'publicToken', 'url', 'event', 'run']),
  id: z.string().optional(),
});
export type TokenCompletion = z.infer<typeof tokenCompletion>;

const tokenDetails = z.object({
  /**
   * The runs that wait for it, or waited for it: at most 50 of a retrieved token, three in a list. Only for callers that may read runs.
   */
  runs: z
    .array(
      z.object({
        id: z.string(),
        taskIdentifier: z.string(),
        description: z.string().optional(),
        /** When it began to wait. */
        since: date,
        isWaiting: z.boolean(),
      }),
    )
    .optional(),
  /** The name of the event that completes it. */
  event: z.string().optional(),
  /** The JSON Schema of its value. */
  schema: z.record(z.string(), z.unknown()).optional(),
  completedBy: tokenCompletion.optional(),
});
export type TokenDetails = z.infer<typeof tokenDetails>;

const details = z.enum(['true', 'false']).optional();

const waitpointToken = z.object({
  id: z.string(),
  /** A POST to it completes the token, without a credential. */
  url: z.string(),
  status: z.enum(waitpointStatuses),
  idempotencyKey: z.string().optional(),
  idempotencyKeyExpiresAt: date.optional(),
  /** When it times out unless it is completed. */
  timeoutAt: date.optional(),
  /** When it was completed or timed out. */
  completedAt: date.optional(),
  tags: z.array(z.string()),
  createdAt: date,
  /** Only if `details` are requested. */
  details: tokenDetails.optional(),
});
export type WaitpointToken = z.infer<typeof waitpointToken>;

export const createWaitpointToken = operation({
  id: 'createWaitpointToken',
  method: 'POST',
  path: '/api/v1/waitpoints/tokens',
  tag: 'waitpoints',
  summary: 'Create a token that runs can wait for',
  access: { secretKey: true, publicToken: true, action: 'write', on: 'waitpoints' },
  body: z.object({
    waitKey,
    /** A second token with this key returns the first one. */
    idempotencyKey: idempotencyKey.optional(),
    /** How long the key is remembered, such as `1h` or `30d`. Default 30 days. */
    idempotencyKeyTTL: z.string().optional(),
    /** A date, or a duration such as `1h30m`. Default 10 minutes. */
    timeout: z.string().optional(),
    /** The first event of this name whose payload matches the filter also completes it. See docs/events.md. */
    event: z
      .object({
        name: z.string().min(1).max(255),
        filter: z.record(z.string(), z.unknown()).optional(),
      })
      .optional(),
    tags: z
      .union([z.string(), z.array(z.string())])
      .transform((value) => (typeof value === 'string' ? [value] : value))
      .pipe(z.array(tag).max(10, 'a token has at most 10 tags'))
      .optional(),
    /** JSON Schema of the value. The dashboard builds its form from it; completions are not checked. */
    schema: z.record(z.string(), z.unknown()).optional(),
  }),
  bodyOptional: true,
  bodyLimit: 10_240,
  reply: z.object({
    id: z.string(),
    /** True only when an idempotency key matched an existing token. */
    isCached: z.boolean(),
    url: z.string(),
  }),
  errors: [413],
});

export const listWaitpointTokens = operation({
  id: 'listWaitpointTokens',
  method: 'GET',
  path: '/api/v1/waitpoints/tokens',
  tag: 'waitpoints',
  summary: 'List tokens, newest first',
  access: { secretKey: true, publicToken: true, action: 'read', on: 'waitpoints' },
  query: z.object({
    'page[size]': pageSize(25),
    'page[after]': z.string().optional(),
    /** Takes precedence over `page[after]`. */
    'page[before]': z.string().optional(),
    'filter[status]': oneOfList(waitpointStatuses).optional(),
    /** Tokens with any of these tags. */
    'filter[tags]': commaList.optional(),
    'filter[idempotencyKey]': z.string().optional(),
    'filter[createdAt][from]': instant.optional(),
    'filter[createdAt][to]': instant.optional(),
    /** Takes precedence over from and to. */
    'filter[createdAt][period]': period.optional(),
    /** Also return the runs that wait for each token, its event, its schema, and who completed it. */
    details,
  }),
  reply: z.object({ data: z.array(waitpointToken), pagination: cursors }),
});

export const retrieveWaitpointToken = operation({
  id: 'retrieveWaitpointToken',
  method: 'GET',
  path: '/api/v1/waitpoints/tokens/:waitpointId',
  tag: 'waitpoints',
  summary: 'Retrieve a token with its completion value',
  access: { secretKey: true, publicToken: true, action: 'read', on: 'waitpoints', objects: true },
  params: tokenId,
  query: z.object({
    /** Also return the runs that wait or waited for it, its event, its schema, and who completed it. */
    details,
  }),
  reply: waitpointToken.extend({
    /** In the format of `outputType`. If it timed out: the error. */
    output: z.string().optional(),
    outputType: z.string().optional(),
    outputIsError: z.boolean().optional(),
    /** The runs that currently wait for it, at most 50. Only for callers that may read runs. */
    waitingRuns: z.array(z.object({ id: z.string(), taskIdentifier: z.string() })).optional(),
  }),
  errors: [404],
});

export const completeWaitpointToken = operation({
  id: 'completeWaitpointToken',
  method: 'POST',
  path: '/api/v1/waitpoints/tokens/:waitpointId/complete',
  tag: 'waitpoints',
  summary: 'Complete a token: the runs that wait for it continue. The first completion counts',
  access: { secretKey: true, publicToken: true, action: 'write', on: 'waitpoints', objects: true },
  params: tokenId,
  body: z.object({ data: z.unknown().optional() }),
  bodyOptional: true,
  bodyLimit: dataLimit,
  maxMembers: maxJsonMembers,
  reply: z.object({ success: z.boolean() }),
  errors: [404, 413],
});

export const completeWaitpointByCallback = operation({
  id: 'completeWaitpointByCallback',
  method: 'POST',
  path: '/api/v1/waitpoints/tokens/:waitpointId/callback/:hash',
  tag: 'waitpoints',
  summary: 'Complete a token by its URL alone, with the body as the value',
  access: { open: true },
  params: tokenId.extend({ hash: z.string().min(1).max(128) }),
  /** JSON. With a content type other than JSON, any other text, which is stored as a string. */
  body: z.string(),
  bodyText: true,
  bodyLimit: dataLimit,
  reply: z.object({ success: z.boolean() }),
  errors: [404, 413],
});
