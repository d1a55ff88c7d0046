/** Standard Webhooks (https://www.standardwebhooks.com), and Svix, which has the same scheme with other names of headers. */
import { createHmac } from 'node:crypto';
import {
  headerOf,
  matchesAny,
  readSeconds,
  secondsOf,
  type SignedRequest,
  type Unsigned,
  type Verdict,
} from './scheme.ts';

export type StandardPrefix = 'webhook' | 'svix';

const keyOf = (secret: string): Buffer => Buffer.from(secret.replace(/^whsec_/, ''), 'base64');

const digestOf = (key: Buffer, id: string, timestamp: string, body: Buffer): Buffer =>
  createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();

export function verifyStandard(
  { headers, body }: SignedRequest,
  secrets: readonly string[],
  prefix: StandardPrefix,
): Verdict {
  // Svix sends either set of headers, as its customer has configured.
  const read = (name: string): string | undefined =>
    headerOf(headers, `${prefix}-${name}`) ??
    (prefix === 'svix' ? headerOf(headers, `webhook-${name}`) : undefined);
  const [id, timestamp, signature] = [read('id'), read('timestamp'), read('signature')];
  if (!id || !timestamp || !signature) return 'webhook_signature_missing';
  const signatures = signature
    .split(' ')
    .filter((part) => part.startsWith('v1,'))
    .map((part) => Buffer.from(part.slice(3), 'base64'));
  // A secret that is not base64 decodes to an empty key, with which anyone could sign.
  const keys = secrets.map(keyOf).filter((key) => key.length > 0);
  const expected = keys.map((key) => digestOf(key, id, timestamp, body));
  if (!matchesAny(signatures, expected)) return 'webhook_signature_invalid';
  const signedAt = readSeconds(timestamp);
  return signedAt === undefined ? 'webhook_timestamp_invalid' : { senderId: id, signedAt };
}

export function signStandard({ id, at, body }: Unsigned, secret: string, prefix: StandardPrefix) {
  const timestamp = secondsOf(at);
  return {
    [`${prefix}-id`]: id,
    [`${prefix}-timestamp`]: timestamp,
    [`${prefix}-signature`]: `v1,${digestOf(keyOf(secret), id, timestamp, body).toString('base64')}`,
  };
}
