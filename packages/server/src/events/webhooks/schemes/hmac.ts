/** An HMAC of the body in a header of the sender's choice. */
import type { WebhookVerification } from '@millrace/contract/runner';
import { createHmac } from 'node:crypto';
import { headerOf, matchesAny, type SignedRequest, type Unsigned, type Verdict } from './scheme.ts';

export type HmacVerification = Extract<WebhookVerification, { readonly scheme: 'hmac' }>;

const digestOf = (algorithm: string, secret: string, body: Buffer): Buffer =>
  createHmac(algorithm, secret).update(body).digest();

export function verifyHmac(
  { headers, body }: SignedRequest,
  secrets: readonly string[],
  { header: name, algorithm, encoding, prefix = '', idHeader }: HmacVerification,
): Verdict {
  const header = headerOf(headers, name);
  if (!header) return 'webhook_signature_missing';
  const signature = header.startsWith(prefix)
    ? Buffer.from(header.slice(prefix.length), encoding)
    : undefined;
  const expected = secrets.map((secret) => digestOf(algorithm, secret, body));
  return signature && matchesAny([signature], expected)
    ? { senderId: idHeader === undefined ? undefined : headerOf(headers, idHeader) }
    : 'webhook_signature_invalid';
}

export const signHmac = (
  { id, body }: Unsigned,
  secret: string,
  { header, algorithm, encoding, prefix = '', idHeader }: HmacVerification,
) => ({
  [header.toLowerCase()]: prefix + digestOf(algorithm, secret, body).toString(encoding),
  ...(idHeader !== undefined && { [idHeader.toLowerCase()]: id }),
});
