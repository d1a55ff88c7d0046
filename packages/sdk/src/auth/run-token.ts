import { signText } from '../transport/index.ts';

const lifetimeSeconds = 3_600;
const asBase64url = (value: unknown): string => {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');
};

/**
 * A public token that can read one run for an hour, equivalent to the one that the server issues with a single trigger. It is signed locally
 * with the secret key; the server provides the `claims`. Undefined if no synchronous HMAC is available.
 */
export function runToken(secretKey: string, claims: string, run: string): string | undefined {
  if (!signText) return undefined;
  const iat = Math.floor(Date.now() / 1_000);
  const body = {
    ...(JSON.parse(claims) as object),
    scopes: [`read:runs:${run}`, `write:inputStreams:${run}`],
    iss: 'https://id.trigger.dev',
    aud: 'https://api.trigger.dev',
    iat,
    exp: iat + lifetimeSeconds,
  };
  const signed = `${asBase64url({ alg: 'HS256', typ: 'JWT' })}.${asBase64url(body)}`;
  return `${signed}.${signText(secretKey, signed)}`;
}
