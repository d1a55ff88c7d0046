import { z } from 'zod';
import { operation } from '../operation.ts';
import { namedWebhookSchemes } from '../runner/webhook.ts';
import { commaList, cursors, date, instant, pageSize } from './shapes.ts';

/** The path of webhooks, without their address. */
export const webhookPath = '/webhooks/v1/';
/** Maximum size of the body of a request to a webhook, in bytes. */
export const webhookBodyLimit = 1_048_576;
/** How much the signed time of a request to a webhook may differ from the server's time, in milliseconds. */
export const webhookToleranceMs = 300_000;

export const webhookSchemes = [...namedWebhookSchemes, 'hmac', 'none'] as const;

/** A webhook that the current version declares. */
export const webhook = z.object({
  /** The id of the webhook, and of the task that runs for its requests. */
  id: z.string(),
  /** Where the other service sends its requests. The same in every version. */
  url: z.string(),
  scheme: z.enum(webhookSchemes),
  /** The environment variables with its secret, and whether they are set. */
  secrets: z.array(z.object({ name: z.string(), isSet: z.boolean() })),
  /** For the scheme `hmac`. */
  signature: z
    .object({ header: z.string(), algorithm: z.string(), encoding: z.string(), prefix: z.string() })
    .optional(),
  /** For the schemes `hmac` and `none`: the header with the sender's id of the request. */
  idHeader: z.string().optional(),
  /** Number of rejected requests. Counted with a delay of some seconds. */
  rejected: z.number().int(),
  lastRejection: z.object({ code: z.string(), at: date }).nullable(),
  /** When the last accepted request was received; null if none is stored. */
  lastDeliveryAt: date.nullable(),
  /** The last 24 hours, in whole hours. */
  lastDay: z.object({
    /** Failed runs. */
    failed: z.number().int(),
    /** Rejected requests by error code, the most frequent first. */
    rejections: z.array(z.object({ code: z.string(), count: z.number().int(), lastAt: date })),
  }),
});
export type Webhook = z.infer<typeof webhook>;

const summary = z.object({
  id: z.string(),
  /** The id of the webhook. */
  webhook: z.string(),
  /** The sender's id of the request: a repeated request with this id is the same delivery. Null if the sender has none. */
  senderId: z.string().nullable(),
  receivedAt: date,
  /** Size of the body. */
  bytes: z.number().int(),
  /** Number of later requests with the same id, which started no run. Counted with a delay of some seconds. */
  repeated: z.number().int(),
});

/** A list item. */
export const listedWebhookDelivery = summary.extend({
  /** The runs that it started: the first one, and those of its replays. */
  runs: z.array(z.string()),
  /** The status of the newest of these runs; null if it is no longer stored. */
  status: z.string().nullable(),
});
export type ListedWebhookDelivery = z.infer<typeof listedWebhookDelivery>;

export const webhookDelivery = summary.extend({
  /** The headers of the request, without credentials. */
  headers: z.record(z.string(), z.string()),
  /** The body as it was received; in base64 if it is not UTF-8. */
  rawBody: z.string(),
  isBase64Encoded: z.boolean(),
  /** The runs that it started and that are still stored. */
  runs: z.array(z.object({ id: z.string(), taskIdentifier: z.string(), status: z.string() })),
});
export type WebhookDelivery = z.infer<typeof webhookDelivery>;

export const listWebhooks = operation({
  id: 'listWebhooks',
  method: 'GET',
  path: '/api/v1/webhooks',
  tag: 'webhooks',
  summary: 'List the webhooks of the current version with their addresses',
  access: { secretKey: true, action: 'read', on: 'webhooks' },
  reply: z.object({ data: z.array(webhook) }),
});

export const listWebhookDeliveries = operation({
  id: 'listWebhookDeliveries',
  method: 'GET',
  path: '/api/v1/webhook-deliveries',
  tag: 'webhooks',
  summary: 'List accepted requests to webhooks, newest first',
  access: { secretKey: true, action: 'read', on: 'webhooks' },
  query: z.object({
    'page[size]': pageSize(25),
    /** The id of a delivery. */
    'page[after]': z.string().optional(),
    /** Takes precedence over `page[after]`. */
    'page[before]': z.string().optional(),
    /** Ids of webhooks. */
    'filter[webhook]': commaList.optional(),
    /** The sender's id. */
    'filter[senderId]': z.string().min(1).max(255).optional(),
    /** Received at or after this time. */
    'filter[from]': instant.optional(),
    /** Received at or before this time. */
    'filter[to]': instant.optional(),
  }),
  reply: z.object({ data: z.array(listedWebhookDelivery), pagination: cursors }),
});

export const sendWebhook = operation({
  id: 'sendWebhook',
  method: 'POST',
  path: '/api/v1/webhooks/:webhookId/send',
  tag: 'webhooks',
  summary: 'Send a test request to a webhook, signed by the server as its provider would',
  access: { secretKey: true, action: 'write', on: 'webhooks' },
  params: z.object({ webhookId: z.string().min(1).max(128) }),
  body: z.object({
    /** At most 1 MiB. Default `{}`. */
    body: z.string().default('{}'),
    /** Default `application/json`. */
    contentType: z
      .string()
      .min(1)
      .max(255)
      .regex(/^[\x20-\x7e]+$/, 'must be printable ASCII')
      .default('application/json'),
    /** Additional headers, such as `X-GitHub-Event`. */
    headers: z
      .record(
        z.string().regex(/^[A-Za-z0-9_-]{1,128}$/, 'must be the name of a header'),
        z.string().max(8_192),
      )
      .default({}),
    /** The sender's id, for schemes that send it in a header. Default: random. */
    id: z.string().min(1).max(255).optional(),
  }),
  reply: z.object({
    /** The id of the delivery. */
    id: z.string(),
    /** Whether a request with this id was received before, so that no run was started. */
    isDuplicate: z.boolean(),
  }),
  errors: [404, 413, 422, 503],
});

const oneDelivery = z.object({ webhookDeliveryId: z.string().min(1).max(64) });

export const retrieveWebhookDelivery = operation({
  id: 'retrieveWebhookDelivery',
  method: 'GET',
  path: '/api/v1/webhook-deliveries/:webhookDeliveryId',
  tag: 'webhooks',
  summary: 'Retrieve an accepted request to a webhook with its runs',
  access: { secretKey: true, action: 'read', on: 'webhooks' },
  params: oneDelivery,
  reply: webhookDelivery,
  errors: [404],
});

export const replayWebhookDelivery = operation({
  id: 'replayWebhookDelivery',
  method: 'POST',
  path: '/api/v1/webhook-deliveries/:webhookDeliveryId/replay',
  tag: 'webhooks',
  summary: 'Start another run with the stored request of a webhook',
  access: { secretKey: true, action: 'write', on: 'webhooks' },
  params: oneDelivery,
  body: z.object({
    /** The version on which the run executes, such as `20261121.3`. Default: the current one. */
    version: z.string().min(1).max(128).optional(),
  }),
  bodyOptional: true,
  reply: z.object({ id: z.string(), run: z.string() }),
  errors: [404, 422],
});
