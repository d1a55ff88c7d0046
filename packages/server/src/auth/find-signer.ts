import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto';
import { decodeJwt, type JWTPayload } from 'jose';
import type { SigningKey, SigningKeyRing, SigningKeys } from './signing-keys.ts';

export interface Signed {
  readonly keys: SigningKeys;
  readonly key: SigningKey;
  /** The HMAC key: the secret key's text with the prefix `svc_` or `tr_`. */
  readonly form: KeyObject;
  readonly asOf: number;
  /** When the search began. Keys created after `asOf` may be missing. */
  readonly began: number;
}

/** The unverified claims of a JWT; undefined if the text is not a JWT. */
export function claimsOf(token: string): JWTPayload | undefined {
  try {
    return decodeJwt(token);
  } catch {
    return undefined;
  }
}

/**
 * The live key of the environment that signed the token; undefined if there is none. If no cached key matches, the keys are reloaded.
 */
export async function findSigner(
  ring: SigningKeyRing,
  token: string,
  { sub }: JWTPayload,
): Promise<Signed | undefined> {
  // Any client can send an unsigned token, so no query is sent for a value that cannot be an environment id.
  if (typeof sub !== 'string' || !/^\w{1,64}$/.test(sub)) return undefined;
  const began = performance.now();
  const known = await ring.of(sub);
  const found = matchSigner(token, known.value);
  if (found) return { ...found, asOf: known.asOf, began };
  if (known.asOf >= began) return undefined;
  const anew = await ring.anew(sub);
  const later = matchSigner(token, anew.value);
  return later && { ...later, asOf: anew.asOf, began };
}

/** The live key whose HMAC matches the token's signature. */
function matchSigner(token: string, keys: SigningKeys | undefined) {
  if (!keys) return undefined;
  const end = token.lastIndexOf('.');
  const signed = token.slice(0, end);
  const signature = Buffer.from(token.slice(end + 1), 'base64url');
  for (const key of keys.keys.values()) {
    for (const form of key.forms) {
      const expected = createHmac('sha256', form).update(signed).digest();
      if (expected.length === signature.length && timingSafeEqual(expected, signature))
        return { keys, key, form };
    }
  }
  return undefined;
}
