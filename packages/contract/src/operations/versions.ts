import { operation } from '../operation.ts';
import { registerVersionBody, registeredVersion } from '../runner/manifest.ts';

/** Part of the runner protocol: a runner or a deployment makes a bundle's tasks known; it becomes the current version. */
export const registerVersion = operation({
  id: 'registerVersion',
  method: 'POST',
  path: '/runner/v1/versions',
  tag: 'runner',
  summary: 'Register a worker version and make it current',
  access: { secretKey: true, action: 'write', on: 'deployments', forbidsRuns: true },
  body: registerVersionBody,
  bodyLimit: 8 * 1024 * 1024,
  reply: registeredVersion,
});
