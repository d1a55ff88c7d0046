import { z } from 'zod';
import { deliveryStatuses } from '../words.ts';
import { operation } from '../operation.ts';
import { commaList, cursors, date, environmentInPath, oneOfList, pageSize } from './shapes.ts';

/** The types of notifications. */
export const notificationTypes = [
  'run.failed',
  'error.new',
  'error.regressed',
  'error.unignored',
  'deployment.registered',
  'deployment.promoted',
  'schedule.missed',
  'endpoint.disabled',
  'alert.firing',
  'alert.resolved',
] as const;
export type NotificationType = (typeof notificationTypes)[number];

const wildcards = [...new Set(notificationTypes.map((type) => `${type.split('.')[0] as string}.*`)), '*'];

/** The types that an endpoint receives: a type, all types of one object (`error.*`), or everything (`*`). */
export const notificationSelector = z
  .string()
  .refine(
    (text) => (notificationTypes as readonly string[]).includes(text) || wildcards.includes(text),
    `not a type of notification; use ${[...notificationTypes, ...wildcards].join(', ')}`,
  );

const listOf = (selector: z.ZodType<string, string>) =>
  z
    .array(selector)
    .min(1)
    .max(20)
    .transform((list) => [...new Set(list)]);
const types = listOf(notificationSelector);

/** Types that may be sent to a chat or by email: only grouped ones, so that people are not flooded. */
export const messageTypes = ['alert.firing', 'alert.resolved', 'alert.*', 'endpoint.disabled'] as const;
const messages = listOf(
  z
    .string()
    .refine(
      (text) => (messageTypes as readonly string[]).includes(text),
      `not available for chat and email; use ${messageTypes.join(', ')}, and a webhook for everything else`,
    ),
).default(['alert.*', 'endpoint.disabled']);

const words = (max: number) =>
  z
    .string()
    .max(max)
    .refine((text) => !text.includes('\u0000'), 'must not contain a NUL character')
    .refine((text) => text.isWellFormed(), 'must not contain an unpaired surrogate');

const url = words(2_048).refine((text) => {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}, 'must be an https address without a user and a password in it');

/** A webhook is a signed request; `slack` is a message to an incoming webhook in Slack's format; `email` is an email over SMTP. */
export const endpointKinds = ['webhook', 'slack', 'email'] as const;
export type EndpointKind = (typeof endpointKinds)[number];

/** `tls` from the first byte (port 465), `starttls` (port 587), or `none`, which is only allowed in private networks. */
export const smtpSecurities = ['tls', 'starttls', 'none'] as const;
export type SmtpSecurity = (typeof smtpSecurities)[number];

const mailAddress = z.email('not a mail address such as ops@example.com').max(254);
const host = z
  .string()
  .max(253)
  .regex(/^[a-z0-9_.:-]+$/i, 'must be a host name such as smtp.example.com, or an IP address');

/** The mail server, without the password. */
const smtpServer = {
  host,
  port: z.number().int().min(1).max(65_535),
  security: z.enum(smtpSecurities),
  user: words(320).min(1).optional(),
};
const smtp = z
  .object({ ...smtpServer, password: words(1_024).min(1).optional() })
  .refine(({ user, password }) => (user === undefined) === (password === undefined), {
    message: 'set both the user and the password, or neither',
    path: ['password'],
  });
const from = mailAddress;
const to = z.array(mailAddress).min(1).max(20);

export const notificationEndpoint = z.object({
  id: z.string(),
  kind: z.enum(endpointKinds),
  /**
   * For chats and mail servers, only the origin (`https://hooks.slack.com`, `smtps://smtp.example.com:465`), because the rest is secret.
   */
  url: z.string(),
  /** Only for `email`; without the password. */
  mail: z.object({ smtp: z.object(smtpServer), from: z.string(), to: z.array(z.string()) }).nullable(),
  description: z.string().nullable(),
  types: z.array(z.string()),
  enabled: z.boolean(),
  /** `user`: manually, `failing`: after days without a success, `gone`: after a 410 response. Null while it is enabled. */
  disabledBy: z.enum(['user', 'failing', 'gone']).nullable(),
  disabledAt: date.nullable(),
  /** The first failed attempt since the last success. */
  failingSince: date.nullable(),
  createdAt: date,
});
export type NotificationEndpoint = z.infer<typeof notificationEndpoint>;

/** Returned only once. Receivers use it to verify that a request is ours, with a Standard Webhooks library or manually. */
const withSecret = notificationEndpoint.extend({
  /** `whsec_…` */
  secret: z.string(),
});

const oneEndpoint = environmentInPath.extend({ endpointId: z.string().min(1).max(128) });
const oneDelivery = environmentInPath.extend({ deliveryId: z.string().min(1).max(128) });

const read = {
  secretKey: true,
  personalAccessToken: true,
  role: 'viewer',
  action: 'read',
  on: 'webhooks',
} as const;
const write = {
  secretKey: true,
  personalAccessToken: true,
  role: 'member',
  action: 'write',
  on: 'webhooks',
  forbidsRuns: true,
} as const;
const root = '/api/v1/projects/:projectRef/notifications/:env';
const tag = 'notifications';

export const createNotificationEndpoint = operation({
  id: 'createNotificationEndpoint',
  method: 'POST',
  path: `${root}/endpoints`,
  tag,
  summary:
    'Create a notification endpoint: a webhook, a chat or email; the response contains the signing secret',
  access: write,
  params: environmentInPath,
  body: z.discriminatedUnion(
    'kind',
    [
      z.object({ kind: z.literal('webhook').optional(), url, types, description: words(1_000).optional() }),
      z.object({ kind: z.literal('slack'), url, types: messages, description: words(1_000).optional() }),
      z.object({
        kind: z.literal('email'),
        smtp,
        from,
        to,
        types: messages,
        description: words(1_000).optional(),
      }),
    ],
    { error: `must be one of ${endpointKinds.join(', ')}` },
  ),
  // only webhooks are signed
  reply: notificationEndpoint.extend({ secret: withSecret.shape.secret.optional() }),
  errors: [404, 422],
});

export const listNotificationEndpoints = operation({
  id: 'listNotificationEndpoints',
  method: 'GET',
  path: `${root}/endpoints`,
  tag,
  summary: 'List the endpoints of an environment, oldest first',
  access: read,
  params: environmentInPath,
  reply: z.object({ data: z.array(notificationEndpoint) }),
  errors: [404],
});

export const retrieveNotificationEndpoint = operation({
  id: 'retrieveNotificationEndpoint',
  method: 'GET',
  path: `${root}/endpoints/:endpointId`,
  tag,
  summary: 'Retrieve an endpoint',
  access: read,
  params: oneEndpoint,
  reply: notificationEndpoint,
  errors: [404],
});

export const updateNotificationEndpoint = operation({
  id: 'updateNotificationEndpoint',
  method: 'PATCH',
  path: `${root}/endpoints/:endpointId`,
  tag,
  summary: 'Update an endpoint, or switch it off or on',
  access: write,
  params: oneEndpoint,
  body: z.object({
    /** For webhooks and chats. */
    url: url.optional(),
    /** For email; an omitted password is unchanged if the server and the user are. */
    smtp: z.object({ ...smtpServer, password: words(1_024).min(1).optional() }).optional(),
    from: from.optional(),
    to: to.optional(),
    types: types.optional(),
    description: words(1_000).nullable().optional(),
    enabled: z.boolean().optional(),
  }),
  reply: notificationEndpoint,
  errors: [404, 422],
});

export const deleteNotificationEndpoint = operation({
  id: 'deleteNotificationEndpoint',
  method: 'DELETE',
  path: `${root}/endpoints/:endpointId`,
  tag,
  summary: 'Delete an endpoint with its deliveries',
  access: write,
  params: oneEndpoint,
  reply: z.object({ id: z.string() }),
  errors: [404, 409],
});

export const rotateNotificationSecret = operation({
  id: 'rotateNotificationSecret',
  method: 'POST',
  path: `${root}/endpoints/:endpointId/rotate-secret`,
  tag,
  summary: "Rotate a webhook's secret; requests are signed with both for 24 hours",
  access: write,
  params: oneEndpoint,
  reply: withSecret,
  errors: [404, 422],
});

export const notificationDelivery = z.object({
  id: z.string(),
  endpointId: z.string(),
  /** The `webhook-id` of every attempt. */
  messageId: z.string(),
  type: z.string(),
  status: z.enum(deliveryStatuses),
  attempts: z.number().int(),
  createdAt: date,
  /** When the next attempt is due. */
  dueAt: date.nullable(),
  deliveredAt: date.nullable(),
  lastAttemptAt: date.nullable(),
  /** The status of the last response; null if there was none. For a mail server its reply code, such as 250. */
  responseStatus: z.number().int().nullable(),
  /** Why the last attempt failed. */
  failure: z.string().nullable(),
});
export type NotificationDelivery = z.infer<typeof notificationDelivery>;

export const testNotificationEndpoint = operation({
  id: 'testNotificationEndpoint',
  method: 'POST',
  path: `${root}/endpoints/:endpointId/test`,
  tag,
  summary: 'Send a test message to an endpoint; its delivery contains the result',
  access: write,
  params: oneEndpoint,
  reply: notificationDelivery,
  errors: [404, 409],
});

export const listNotificationDeliveries = operation({
  id: 'listNotificationDeliveries',
  method: 'GET',
  path: `${root}/deliveries`,
  tag,
  summary: 'List deliveries of an environment, newest first',
  access: read,
  params: environmentInPath,
  query: z.object({
    'page[size]': pageSize(25),
    /** The id of a delivery. */
    'page[after]': z.string().optional(),
    /** Takes precedence over `page[after]`. */
    'page[before]': z.string().optional(),
    'filter[endpoint]': commaList.optional(),
    'filter[type]': commaList.optional(),
    'filter[status]': oneOfList(deliveryStatuses).optional(),
  }),
  reply: z.object({ data: z.array(notificationDelivery), pagination: cursors }),
  errors: [404],
});

export const retrieveNotificationDelivery = operation({
  id: 'retrieveNotificationDelivery',
  method: 'GET',
  path: `${root}/deliveries/:deliveryId`,
  tag,
  summary: 'Retrieve a delivery with its message',
  access: read,
  params: oneDelivery,
  reply: notificationDelivery.extend({
    /** The JSON body of the request. */
    body: z.looseObject({ type: z.string(), timestamp: date, data: z.looseObject({}) }),
  }),
  errors: [404],
});

export const replayNotificationDelivery = operation({
  id: 'replayNotificationDelivery',
  method: 'POST',
  path: `${root}/deliveries/:deliveryId/replay`,
  tag,
  summary: 'Retry a delivery from the beginning, under the same message id',
  access: write,
  params: oneDelivery,
  reply: notificationDelivery,
  errors: [404, 409],
});
