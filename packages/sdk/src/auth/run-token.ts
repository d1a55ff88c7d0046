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
 * A public token that reads one run for an hour, as the server issues it with a single trigger. It is signed locally with the secret key;
 * the server provides the `claims`. Undefined if there is no synchronous HMAC.
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
