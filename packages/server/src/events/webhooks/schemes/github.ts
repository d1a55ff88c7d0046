/** The header `X-Hub-Signature-256`: `sha256=<hex>`. GitHub signs neither a time nor the id of the delivery. */
import { createHmac } from 'node:crypto';
import { headerOf, matchesAny, type SignedRequest, type Unsigned, type Verdict } from './scheme.ts';

const prefix = 'sha256=';

const digestOf = (secret: string, body: Buffer): Buffer => createHmac('sha256', secret).update(body).digest();

export function verifyGithub({ headers, body }: SignedRequest, secrets: readonly string[]): Verdict {
  const header = headerOf(headers, 'x-hub-signature-256');
  if (!header) return 'webhook_signature_missing';
  const signature = header.startsWith(prefix) ? Buffer.from(header.slice(prefix.length), 'hex') : undefined;
  const expected = secrets.map((secret) => digestOf(secret, body));
  return signature && matchesAny([signature], expected)
    ? { senderId: headerOf(headers, 'x-github-delivery') }
    : 'webhook_signature_invalid';
}

export const signGithub = ({ id, body }: Unsigned, secret: string) => ({
  'x-github-delivery': id,
  'x-hub-signature-256': prefix + digestOf(secret, body).toString('hex'),
});
