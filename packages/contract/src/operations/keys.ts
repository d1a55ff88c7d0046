import { z } from 'zod';
import { maxKeyTasks, presets } from '../access.ts';
import { operation } from '../operation.ts';
import { date, nameOf } from './shapes.ts';

const inEnvironment = z.object({
  projectRef: z.string().min(1).max(128),
  /** `dev`, `stg`, `prod` or `preview`, in any spelling. */
  env: z.string().min(1).max(32),
});
const oneKey = inEnvironment.extend({ keyId: z.string().min(1).max(128) });

const name = nameOf(64);

/** ISO 8601, in the future. */
const expiresAt = z.iso.datetime({ offset: true });

/** A secret key as returned by the API: never its text. */
export const secretKey = z.object({
  id: z.string(),
  name: z.string(),
  /** Omitted for keys whose scopes do not match a preset. */
  preset: z.enum(presets).optional(),
  /** The tasks it is restricted to. */
  tasks: z.array(z.string()).optional(),
  scopes: z.array(z.string()),
  lastFour: z.string(),
  createdAt: date,
  /** Accurate to five minutes. */
  lastUsedAt: date.optional(),
  expiresAt: date.optional(),
  revokedAt: date.optional(),
});
export type SecretKey = z.infer<typeof secretKey>;

/** With its text, which is returned only once. */
const newKey = secretKey.extend({ key: z.string() });

export const listKeys = operation({
  id: 'listKeys',
  method: 'GET',
  path: '/api/v1/projects/:projectRef/:env/keys',
  tag: 'keys',
  summary: "List an environment's secret keys, without their values",
  access: { personalAccessToken: true, role: 'viewer' },
  params: inEnvironment,
  reply: z.object({ data: z.array(secretKey) }),
  errors: [404],
});

export const createKey = operation({
  id: 'createKey',
  method: 'POST',
  path: '/api/v1/projects/:projectRef/:env/keys',
  tag: 'keys',
  summary: 'Create a secret key; only this response contains its value',
  access: { personalAccessToken: true, role: 'admin', devRole: 'member' },
  params: inEnvironment,
  body: z.object({
    name,
    /** Default `full`. It cannot be changed later: create another key instead. */
    preset: z.enum(presets).default('full'),
    /** Only these tasks, each known in the environment; for the presets `trigger-only` and `task-operator`. */
    tasks: z.array(z.string().min(1).max(128)).min(1).max(maxKeyTasks).optional(),
    expiresAt: expiresAt.optional(),
  }),
  reply: newKey,
  errors: [404, 422],
});

export const revokeKey = operation({
  id: 'revokeKey',
  method: 'POST',
  path: '/api/v1/projects/:projectRef/:env/keys/:keyId/revoke',
  tag: 'keys',
  summary: 'Revoke a secret key, and every token created with it, permanently and immediately',
  access: { personalAccessToken: true, role: 'admin', devRole: 'member' },
  params: oneKey,
  reply: secretKey,
  errors: [404],
});

/** How long the old key remains valid alongside the new one: a time span such as `1h`, at most 30 days; `0s` means not at all. */
const overlap = z.object({ overlap: z.string().max(100).default('24h') });

export const rotateKey = operation({
  id: 'rotateKey',
  method: 'POST',
  path: '/api/v1/projects/:projectRef/:env/keys/:keyId/rotate',
  tag: 'keys',
  summary: 'Rotate a key: create a copy; the old key ends after the overlap',
  access: { personalAccessToken: true, role: 'admin', devRole: 'member' },
  params: oneKey,
  body: overlap,
  bodyOptional: true,
  reply: newKey,
  errors: [404, 422],
});

export const regenerateKey = operation({
  id: 'regenerateKey',
  method: 'POST',
  path: '/api/v1/projects/:projectRef/:env/regenerate-api-key',
  tag: 'keys',
  summary: "Rotate the environment's longest-lived unrestricted key; if there are several, the oldest",
  access: { personalAccessToken: true, role: 'admin', devRole: 'member' },
  params: inEnvironment,
  body: overlap,
  bodyOptional: true,
  reply: z.object({ id: z.string(), apiKey: z.string() }),
  errors: [404, 422],
});

export const rotateSigningKey = operation({
  id: 'rotateSigningKey',
  method: 'POST',
  path: '/api/v1/projects/:projectRef/:env/signing-key/rotate',
  tag: 'keys',
  summary: 'Rotate the signing key of public tokens; tokens signed with old keys end after the overlap',
  access: { personalAccessToken: true, role: 'admin', devRole: 'member' },
  params: inEnvironment,
  body: overlap,
  bodyOptional: true,
  reply: z.object({ id: z.string() }),
  errors: [404, 422],
});

/** A personal access token as returned by the API: never its text. */
export const accessToken = z.object({
  id: z.string(),
  name: z.string(),
  lastFour: z.string(),
  createdAt: date,
  lastUsedAt: date.optional(),
  expiresAt: date.optional(),
  revokedAt: date.optional(),
});
export type AccessToken = z.infer<typeof accessToken>;

export const listTokens = operation({
  id: 'listTokens',
  method: 'GET',
  path: '/api/v1/tokens',
  tag: 'keys',
  summary: "List the user's personal access tokens, without their values",
  access: { personalAccessToken: true },
  reply: z.object({ data: z.array(accessToken) }),
});

export const createToken = operation({
  id: 'createToken',
  method: 'POST',
  path: '/api/v1/tokens',
  tag: 'keys',
  summary: 'Create a personal access token; only this response contains its value',
  access: { personalAccessToken: true },
  /** Default: the expiration of the calling token; a later date is rejected with 422. */
  body: z.object({ name, expiresAt: expiresAt.optional() }),
  reply: accessToken.extend({ token: z.string() }),
  errors: [422],
});

export const revokeToken = operation({
  id: 'revokeToken',
  method: 'POST',
  path: '/api/v1/tokens/:tokenId/revoke',
  tag: 'keys',
  summary: 'Revoke a personal access token permanently and immediately',
  access: { personalAccessToken: true },
  params: z.object({ tokenId: z.string().min(1).max(128) }),
  reply: accessToken,
  errors: [404],
});
