import { z } from 'zod';
import { operation } from '../operation.ts';
import { date, nameOf } from './shapes.ts';

/**
 * How a machine gets a personal access token without anybody carrying one there (RFC 8628): it asks, and its user approves elsewhere. In
 * bodies only: whoever has the code of an approved machine may fetch its token, and paths are written to the logs of proxies.
 */
const code = z.string().min(1).max(128);

export const createAuthorizationCode = operation({
  id: 'createAuthorizationCode',
  method: 'POST',
  path: '/api/v1/authorization-code',
  tag: 'authentication',
  summary: 'Ask for a personal access token: a user approves by the user code within ten minutes',
  access: { open: true },
  body: z.object({
    /** What the machine calls itself, for the user who is asked to approve. */
    hostName: z.string().max(255).optional(),
  }),
  bodyOptional: true,
  reply: z.object({
    /** The machine's own, for nobody else: by it the token is fetched. */
    authorizationCode: z.string(),
    /** What its user types where they are logged in, such as `WDJB-MJHT`. */
    userCode: z.string(),
    /** Where a user approves: by POST, with a personal access token or a browser session. */
    url: z.string(),
    expiresAt: date,
    /** Seconds between two tries to fetch the token. */
    interval: z.number().int(),
  }),
  errors: [429],
});

export const describeAuthorizationCode = operation({
  id: 'describeAuthorizationCode',
  method: 'POST',
  path: '/api/v1/authorization-code/describe',
  tag: 'authentication',
  summary: 'Who asks with a user code, from where and when: to be read before it is approved',
  access: { personalAccessToken: true },
  body: z.object({ userCode: code }),
  reply: z.object({
    userCode: z.string(),
    /** As the machine says; whoever asks may say anything. */
    hostName: z.string().nullable(),
    userAgent: z.string().nullable(),
    /** Of the peer: behind a proxy, the proxy's. */
    address: z.string(),
    /** For whom the proxies say that they ask; a client may have written it. */
    forwardedFor: z.string().nullable(),
    askedAt: date,
    expiresAt: date,
  }),
  errors: [404, 422, 429],
});

export const approveAuthorizationCode = operation({
  id: 'approveAuthorizationCode',
  method: 'POST',
  path: '/api/v1/authorization-code/approve',
  tag: 'authentication',
  summary: 'Let the machine that shows this user code have one personal access token of the user',
  access: { personalAccessToken: true },
  body: z.object({
    userCode: code,
    /** Of the token to be made. */
    name: nameOf(64).default('login'),
    /** When the token ends. Default: in 90 days; null: never. Not after the end of the token that approves. */
    expiresAt: date.nullish(),
  }),
  reply: z.object({
    name: z.string(),
    /** Until when the machine may fetch the token. */
    expiresAt: date,
    /** When the token ends; null for never. */
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
    'Fetch the token of an approved machine, once. Until it is approved, and after that, the token is null',
  access: { open: true },
  body: z.object({ authorizationCode: code }),
  reply: z.object({
    token: z.object({ token: z.string(), obfuscatedToken: z.string() }).nullable(),
    /** Why there is no token: nobody has approved yet; the tries come too fast, and wait `interval` from now on; it was fetched. */
    state: z.enum(['authorization_pending', 'slow_down', 'used']).optional(),
    /** Seconds until the next try. */
    interval: z.number().int().optional(),
  }),
  errors: [404],
});
