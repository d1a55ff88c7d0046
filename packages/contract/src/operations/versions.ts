import { z } from 'zod';
import { maxJsonEscapes, maxJsonMembers } from '../json.ts';
import { operation } from '../operation.ts';
import { bundle, digest } from '../runner/bundle.ts';
import { registerVersionBody, registeredVersion } from '../runner/manifest.ts';

const access = {
  secretKey: true,
  action: 'write',
  on: 'deployments',
  forbidsRuns: true,
  browser: false,
} as const;

/**
 * Part of the runner protocol: a runner makes the tasks of its folder known. In dev the version becomes current. Elsewhere it becomes so when
 * it is promoted.
 */
export const registerVersion = operation({
  id: 'registerVersion',
  method: 'POST',
  path: '/runner/v1/versions',
  tag: 'runner',
  summary: "Register the version of a runner's folder; in dev it becomes current",
  access,
  body: registerVersionBody,
  bodyLimit: 4 * 1024 * 1024,
  maxMembers: 2 * maxJsonMembers,
  maxEscapes: maxJsonEscapes,
  reply: registeredVersion,
});

export const retrieveBundle = operation({
  id: 'retrieveBundle',
  method: 'GET',
  path: '/runner/v1/versions/:version/bundle',
  tag: 'runner',
  summary: 'What a runner fetches to serve an uploaded version',
  access,
  params: z.object({ version: z.string().min(1).max(128) }),
  unlimited: true,
  reply: bundle.extend({ version: z.string(), contentHash: z.string() }),
  errors: [404],
});

export const blobParams = z.object({ version: z.string().min(1).max(128), blob: digest });
