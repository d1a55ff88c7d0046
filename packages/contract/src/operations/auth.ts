import { z } from 'zod';
import { roles } from '../access.ts';
import { environmentKinds } from '../environment.ts';
import { operation } from '../operation.ts';

/** Maximum number of scopes of one public token. */
const maxScopes = 1_000;

const scope = z.string().min(1).max(512);

/** A time span such as `15m` or `2 hours`, or seconds since 1970 as a number. */
const expirationTime = z.union([z.string(), z.number().int()]);
const realtime = z.object({ skipColumns: z.array(z.string().max(128)).max(100).optional() });
const token = z.object({ token: z.string() });

/** A field that is rejected. If it were silently ignored, the token would have more permissions than requested. */
const refused = (error: string) => z.never({ error }).optional();

const claims = z.object({
  scopes: z.array(scope).max(maxScopes).optional(),
  /** Whether it may create one object, once. */
  otu: z.literal(true, { error: 'true creates a one-time token; otherwise omit claims.otu' }).optional(),
  realtime: realtime.optional(),
});

export const publicTokenBody = z.object({
  /** Each must be within the permissions of the calling key. */
  scopes: z.array(scope).min(1).max(maxScopes),
  /** Default 15 minutes, or 1 hour if any scope is for sessions; at most 30 days from now, 24 hours for a run. */
  expirationTime: expirationTime.optional(),
  /** Whether it may create one object, once. */
  oneTimeUse: z.boolean().optional(),
  otu: refused('to request a one-time token, send oneTimeUse: true'),
  realtime: realtime.optional(),
});

export const createPublicToken = operation({
  id: 'createPublicToken',
  method: 'POST',
  path: '/api/v1/auth/public-tokens',
  tag: 'authentication',
  summary: 'Create a public access token with at most the permissions of the calling key',
  access: { secretKey: true, anyScope: true },
  listsIssues: true,
  body: publicTokenBody,
  reply: token,
});

const signBody = z.object({
  claims: claims.optional(),
  otu: refused('to request a one-time token, send claims.otu: true'),
  oneTimeUse: refused('to request a one-time token, send claims.otu: true'),
  /** Default 1 hour. */
  expirationTime: expirationTime.optional(),
});

export const signToken = operation({
  id: 'signToken',
  method: 'POST',
  path: '/api/v1/auth/jwt',
  tag: 'authentication',
  summary: 'Create a public access token with any scopes',
  access: { secretKey: true, forbidsRuns: true, browser: false },
  listsIssues: true,
  body: signBody,
  reply: token,
});

export const retrieveClaims = operation({
  id: 'retrieveClaims',
  method: 'POST',
  path: '/api/v1/auth/jwt/claims',
  tag: 'authentication',
  summary: 'Retrieve the claims for a token that the client signs with its secret key',
  access: { secretKey: true, anyScope: true, forbidsRuns: true },
  unlimited: true,
  reply: z.object({ sub: z.string(), pub: z.literal(true) }),
});

export const signTokenAsUser = operation({
  id: 'signTokenAsUser',
  method: 'POST',
  path: '/api/v1/projects/:projectRef/:env/jwt',
  tag: 'authentication',
  summary:
    'Create a public access token for an environment on behalf of the user; for a branch, set the branch header',
  access: { personalAccessToken: true, role: 'member', browser: false },
  params: z.object({ projectRef: z.string().min(1).max(128), env: z.string().min(1).max(32) }),
  body: signBody,
  reply: token,
  errors: [404],
});

/** An organization, and the user's role in it. */
const ownOrganization = z.object({ id: z.string(), name: z.string(), role: z.enum(roles) });

export const whoami = operation({
  id: 'whoami',
  method: 'GET',
  path: '/api/v1/whoami',
  tag: 'authentication',
  summary: 'Retrieve the identity of the credential',
  access: {
    secretKey: true,
    personalAccessToken: true,
    publicToken: true,
    anyScope: true,
    branchIsOptional: true,
  },
  reply: z.object({
    kind: z.enum(['secretKey', 'personalAccessToken', 'publicToken', 'browser']),
    /** The id of the key, token or browser session; for a public token, that of the key or token that created it. */
    credentialId: z.string(),
    /** Only for keys and public tokens. */
    scopes: z.array(z.string()).optional(),
    project: z.object({ ref: z.string() }).optional(),
    environment: z
      .object({ id: z.string(), name: z.enum(environmentKinds), branch: z.string().optional() })
      .optional(),
    /** Only for personal access tokens and browser sessions. */
    user: z.object({ id: z.string(), name: z.string(), email: z.string().optional() }).optional(),
    organizations: z.array(ownOrganization).optional(),
  }),
});

export const whoamiAsUser = operation({
  id: 'whoamiAsUser',
  method: 'GET',
  path: '/api/v2/whoami',
  tag: 'authentication',
  summary: 'Retrieve the user of a personal access token',
  access: { personalAccessToken: true },
  reply: z.object({
    userId: z.string(),
    name: z.string(),
    email: z.string().optional(),
    organizations: z.array(ownOrganization),
  }),
});
