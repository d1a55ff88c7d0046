/** The header `Stripe-Signature`: `t=<seconds>,v1=<hex>`, with a `v1` for each secret during a rotation. The secret is used with its prefix. */
import { createHmac } from 'node:crypto';
import {
  headerOf,
  matchesAny,
  readSeconds,
  secondsOf,
  textMember,
  type SignedRequest,
  type Unsigned,
  type Verdict,
} from './scheme.ts';

const digestOf = (secret: string, timestamp: string, body: Buffer): Buffer =>
  createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest();

export function verifyStripe({ headers, body, json }: SignedRequest, secrets: readonly string[]): Verdict {
  const header = headerOf(headers, 'stripe-signature');
  if (!header) return 'webhook_signature_missing';
  const fields = header.split(',').map((field) => field.trim());
  const valuesOf = (name: string): string[] =>
    fields.flatMap((field) => (field.startsWith(`${name}=`) ? [field.slice(name.length + 1)] : []));
  const [timestamp = ''] = valuesOf('t');
  const signatures = valuesOf('v1').map((signature) => Buffer.from(signature, 'hex'));
  const expected = secrets.map((secret) => digestOf(secret, timestamp, body));
  if (!matchesAny(signatures, expected)) return 'webhook_signature_invalid';
  const signedAt = readSeconds(timestamp);
  return signedAt === undefined
    ? 'webhook_timestamp_invalid'
    : { senderId: textMember(json(), 'id'), signedAt };
}

export function signStripe({ at, body }: Unsigned, secret: string) {
  const timestamp = secondsOf(at);
  return { 'stripe-signature': `t=${timestamp},v1=${digestOf(secret, timestamp, body).toString('hex')}` };
}
