/** The headers `X-Slack-Request-Timestamp` and `X-Slack-Signature`: `v0=<hex>`. */
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

const prefix = 'v0=';

const digestOf = (secret: string, timestamp: string, body: Buffer): Buffer =>
  createHmac('sha256', secret).update(`v0:${timestamp}:`).update(body).digest();

export function verifySlack({ headers, body, json }: SignedRequest, secrets: readonly string[]): Verdict {
  const timestamp = headerOf(headers, 'x-slack-request-timestamp');
  const header = headerOf(headers, 'x-slack-signature');
  if (!timestamp || !header) return 'webhook_signature_missing';
  const signature = header.startsWith(prefix) ? Buffer.from(header.slice(prefix.length), 'hex') : undefined;
  const expected = secrets.map((secret) => digestOf(secret, timestamp, body));
  if (!signature || !matchesAny([signature], expected)) return 'webhook_signature_invalid';
  const signedAt = readSeconds(timestamp);
  if (signedAt === undefined) return 'webhook_timestamp_invalid';
  const event = json();
  const challenge = textMember(event, 'type') === 'url_verification' && textMember(event, 'challenge');
  // Commands and interactions have no id. Slack does not repeat them.
  return { senderId: textMember(event, 'event_id'), signedAt, ...(challenge && { reply: { challenge } }) };
}

export function signSlack({ at, body }: Unsigned, secret: string) {
  const timestamp = secondsOf(at);
  return {
    'x-slack-request-timestamp': timestamp,
    'x-slack-signature': prefix + digestOf(secret, timestamp, body).toString('hex'),
  };
}
