import { maxJsonEscapes, maxJsonMembers } from '../json.ts';
import { operation } from '../operation.ts';
import { registerVersionBody, registeredVersion } from '../runner/manifest.ts';

export const runnerAccess = {
  secretKey: true,
  action: 'write',
  on: 'deployments',
  forbidsRuns: true,
  browser: false,
} as const;

/**
 * Part of the runner protocol: a runner registers the tasks of its folder. In dev the version becomes current immediately; elsewhere, when
 * it is promoted.
 */
export const registerVersion = operation({
  id: 'registerVersion',
  method: 'POST',
  path: '/runner/v1/versions',
  tag: 'runner',
  summary: "Register the version of a runner's folder; in dev it becomes current",
  access: runnerAccess,
  body: registerVersionBody,
  bodyLimit: 4 * 1024 * 1024,
  maxMembers: 2 * maxJsonMembers,
  maxEscapes: maxJsonEscapes,
  reply: registeredVersion,
});
