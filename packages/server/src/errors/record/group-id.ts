import { hash } from 'node:crypto';

/** The public id of an error group: a hash of its whole key, so that two tasks never share one. */
export function errorGroupId(environmentId: string, taskIdentifier: string, fingerprint: string): string {
  const key = JSON.stringify([environmentId, taskIdentifier, fingerprint]);
  return `error_${hash('sha256', key).slice(0, 16)}`;
}
