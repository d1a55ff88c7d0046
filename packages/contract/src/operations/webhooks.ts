import { z } from 'zod';
import { operation } from '../operation.ts';
import { namedWebhookSchemes } from '../runner/webhook.ts';
import { commaList, cursors, date, pageSize } from './shapes.ts';

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
});

/** A list item. */
export const listedWebhookDelivery = summary.extend({
  /** The runs that it started: the first one, and those of its replays. */
  runs: z.array(z.string()),
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
  }),
  reply: z.object({ data: z.array(listedWebhookDelivery), pagination: cursors }),
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
