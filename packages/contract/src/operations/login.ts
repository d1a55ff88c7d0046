import { z } from 'zod';
import { operation } from '../operation.ts';
import { date, nameOf } from './shapes.ts';

/**
 * How a machine gets a personal access token without copying one to it (RFC 8628): it requests one, and its user approves on another
 * device. Codes are sent only in bodies, because the code of an approved machine is enough to fetch its token, and proxies log paths.
 */
const code = z.string().min(1).max(128);

export const createAuthorizationCode = operation({
  id: 'createAuthorizationCode',
  method: 'POST',
  path: '/api/v1/authorization-code',
  tag: 'authentication',
  summary: 'Request a personal access token, which a user approves with the user code within ten minutes',
  access: { open: true },
  body: z.object({
    /** The name of the machine, shown to the approving user. */
    hostName: z.string().max(255).optional(),
  }),
  bodyOptional: true,
  reply: z.object({
    /** Known only to the machine, which uses it to fetch the token. */
    authorizationCode: z.string(),
    /** The code that its user types on a device where they are logged in, such as `WDJB-MJHT`. */
    userCode: z.string(),
    /** Where a user approves: by POST, with a personal access token or a browser session. */
    url: z.string(),
    expiresAt: date,
    /** Seconds between two polls for the token. */
    interval: z.number().int(),
  }),
  errors: [429],
});

export const describeAuthorizationCode = operation({
  id: 'describeAuthorizationCode',
  method: 'POST',
  path: '/api/v1/authorization-code/describe',
  tag: 'authentication',
  summary: 'Retrieve the origin of a login request by its user code, to check before approval',
  access: { personalAccessToken: true },
  body: z.object({ userCode: code }),
  reply: z.object({
    userCode: z.string(),
    /** As sent by the machine; not verified. */
    hostName: z.string().nullable(),
    userAgent: z.string().nullable(),
    /** The address of the peer; behind a proxy, that of the proxy. */
    address: z.string(),
    /** The client according to the proxies; a client may have forged it. */
    forwardedFor: z.string().nullable(),
    requestedAt: date,
    expiresAt: date,
  }),
  errors: [404, 422, 429],
});

export const approveAuthorizationCode = operation({
  id: 'approveAuthorizationCode',
  method: 'POST',
  path: '/api/v1/authorization-code/approve',
  tag: 'authentication',
  summary: 'Approve the machine with this user code to receive a personal access token of the user',
  access: { personalAccessToken: true },
  body: z.object({
    userCode: code,
    /** The name of the new token. */
    name: nameOf(64).default('login'),
    /** When the token expires. Default: in 90 days; null: never. Not after the expiration of the approving token. */
    expiresAt: date.nullish(),
  }),
  reply: z.object({
    name: z.string(),
    /** The deadline by which the machine must fetch the token. */
    expiresAt: date,
    /** When the token expires; null for never. */
    tokenExpiresAt: date.nullable(),
  }),
  errors: [404, 422, 429],
});

export const exchangeAuthorizationCode = operation({
  id: 'exchangeAuthorizationCode',
  method: 'POST',
  path: '/api/v1/token',
  tag: 'authentication',
  summary:
    'Retrieve the token of an approved machine, once. Before approval and after the first retrieval, the token is null',
  access: { open: true },
  body: z.object({ authorizationCode: code }),
  reply: z.object({
    token: z.object({ token: z.string(), obfuscatedToken: z.string() }).nullable(),
    /** The reason why there is no token: not approved yet; polled too fast, wait `interval` from now on; or already fetched. */
    state: z.enum(['authorization_pending', 'slow_down', 'used']).optional(),
    /** Seconds until the next poll. */
    interval: z.number().int().optional(),
  }),
  errors: [404],
});
