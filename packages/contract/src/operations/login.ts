import { z } from 'zod';
import { operation } from '../operation.ts';
import { date, nameOf } from './shapes.ts';

/**
 * How a machine gets a personal access token without anybody carrying one there: it asks, and its user approves elsewhere. In bodies
 * only: whoever has the code of an approved login may fetch its token, and paths are written to the logs of proxies.
 */
const code = z.string().min(1).max(128);

export const createAuthorizationCode = operation({
  id: 'createAuthorizationCode',
  method: 'POST',
  path: '/api/v1/authorization-code',
  tag: 'authentication',
  summary: 'Ask for a personal access token: the code is approved by a user within ten minutes',
  access: { open: true },
  reply: z.object({
    authorizationCode: z.string(),
    /** Where a user approves it: by POST, with a personal access token. */
    url: z.string(),
    expiresAt: date,
  }),
});

export const approveAuthorizationCode = operation({
  id: 'approveAuthorizationCode',
  method: 'POST',
  path: '/api/v1/authorization-code/approve',
  tag: 'authentication',
  summary: 'Let whoever has the code have one personal access token of the user',
  access: { personalAccessToken: true },
  body: z.object({
    authorizationCode: code,
    /** Of the token to be made. */
    name: nameOf(64).default('login'),
  }),
  reply: z.object({ name: z.string(), expiresAt: date }),
  errors: [404, 422],
});

export const exchangeAuthorizationCode = operation({
  id: 'exchangeAuthorizationCode',
  method: 'POST',
  path: '/api/v1/token',
  tag: 'authentication',
  summary:
    'Fetch the token of an approved code, once. Until it is approved, and after that, the token is null',
  access: { open: true },
  body: z.object({ authorizationCode: code }),
  reply: z.object({
    token: z.object({ token: z.string(), obfuscatedToken: z.string() }).nullable(),
  }),
  errors: [404],
});
