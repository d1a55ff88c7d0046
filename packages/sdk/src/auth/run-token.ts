import { signText } from '#transport';

const lifetimeSeconds = 3_600;
const asBase64url = (value: unknown): string => {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');
};

/**
 * A public token for one run, as the server mints it with a lone trigger: good for an hour, to read the run. Signed here with the secret
 * key, which the server knows; `claims` is what it said the token must hold. Undefined where nothing signs at once.
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
