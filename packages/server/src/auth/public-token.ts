/** Public access tokens: JWTs (HS256) that an environment's secret key signed, here or in a client. */
import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { decodeJwt, jwtVerify, type JWTPayload } from 'jose';
import { unauthorized } from '../problem.ts';
import type { Principal } from './principal.ts';
import type { Loaded } from './recent.ts';
import { grants } from './scopes.ts';
import type { SigningKey, SigningKeyRing, SigningKeys } from './signing-keys.ts';

export const issuer = 'https://id.trigger.dev';
export const audience = 'https://api.trigger.dev';

/** One text for every reason, so that a refusal says nothing about what exists. */
export const invalidPublicToken = () => unauthorized('Public Access Token is invalid');

// A client whose clock runs ahead of ours signs tokens from the future.
const clockSkewSeconds = 60;

/** What the token allows, as of the moment its keys were looked up; a 401 Problem if it is not good. */
export async function verifyPublicToken(ring: SigningKeyRing, token: string): Promise<Loaded<Principal>> {
  const { value: keys, asOf } = await ring.of(environmentClaimed(token));
  const signed = keys && signerOf(token, keys);
  if (!signed) throw invalidPublicToken();
  const { payload } = await jwtVerify(token, signed.form, {
    algorithms: ['HS256'],
    issuer,
    audience,
    requiredClaims: ['sub', 'exp'],
  }).catch(() => {
    throw invalidPublicToken();
  });
  const now = Date.now() / 1_000;
  const { iat, exp = now } = payload;
  if (payload['pub'] !== true || (iat !== undefined && iat > now + clockSkewSeconds)) {
    throw invalidPublicToken();
  }
  const principal: Principal = {
    kind: 'publicToken',
    credentialId: mintedThrough(payload, keys, signed.key).credentialId,
    environment: keys.environment,
    scopes: scopesOf(payload, signed.key),
    ...(payload['otu'] === true && { oneTimeDigest: oneTimeDigest(token) }),
  };
  return { value: principal, asOf, endsInMs: (exp - now) * 1_000 };
}

function environmentClaimed(token: string): string {
  let payload: JWTPayload;
  try {
    payload = decodeJwt(token);
  } catch {
    throw invalidPublicToken();
  }
  if (payload['pub'] !== true || typeof payload.sub !== 'string') throw invalidPublicToken();
  return payload.sub;
}

/** The live key whose HMAC is the token's signature. */
function signerOf(token: string, { keys }: SigningKeys) {
  const end = token.lastIndexOf('.');
  const signed = token.slice(0, end);
  const signature = Buffer.from(token.slice(end + 1), 'base64url');
  for (const key of keys.values()) {
    for (const form of key.forms) {
      const expected = createHmac('sha256', form).update(signed).digest();
      if (expected.length === signature.length && timingSafeEqual(expected, signature)) return { key, form };
    }
  }
  return undefined;
}

/** A token that we minted for a key names that key, and ends with it though another key signed. */
function mintedThrough(payload: JWTPayload, { keys }: SigningKeys, signer: SigningKey): SigningKey {
  if (payload['via'] === undefined) return signer;
  const through = typeof payload['via'] === 'string' ? keys.get(payload['via']) : undefined;
  if (!through) throw invalidPublicToken();
  return through;
}

/** Never more than the key that signed it allows. */
function scopesOf(payload: JWTPayload, signer: SigningKey): string[] {
  const claimed: unknown[] = Array.isArray(payload['scopes']) ? payload['scopes'] : [];
  return claimed.filter(
    (scope): scope is string => typeof scope === 'string' && grants(signer.scopes, scope),
  );
}

/** Over what is signed, not over the signature: several spellings of one signature in base64 are the same token. */
const oneTimeDigest = (token: string): string =>
  hash('sha256', token.slice(0, token.lastIndexOf('.')), 'base64url');
