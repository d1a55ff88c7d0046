import { createHmac, randomBytes } from 'node:crypto';

const prefix = 'whsec_';

/** A secret in the format of Standard Webhooks: 24 random bytes. */
export const newSecret = (): string => `${prefix}${randomBytes(24).toString('base64')}`;

export interface Message {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly body: string;
}

/** The headers of Standard Webhooks (https://www.standardwebhooks.com), with one signature for each secret. */
export function signedHeaders({ id, at, body }: Message, secrets: readonly string[]): Record<string, string> {
  const timestamp = Math.floor(at / 1_000);
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(prefix.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  };
}
