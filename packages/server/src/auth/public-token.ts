/** Public access tokens: JWTs (HS256) that an environment's secret key signed, here or in a client. */
import { hash } from 'node:crypto';
import { jwtVerify, type JWTPayload } from 'jose';
import { unauthorized } from '../problem.ts';
import type { Principal } from './principal.ts';
import type { Loaded } from './recent.ts';
import { grants } from './scopes.ts';
import { claimsOf, signedBy, type Signed } from './signed-by.ts';
import type { SigningKey, SigningKeyRing } from './signing-keys.ts';

export const issuer = 'https://id.trigger.dev';
export const audience = 'https://api.trigger.dev';

/** One text for every reason, so that a refusal says nothing about what exists. */
const invalidPublicToken = () => unauthorized('Public Access Token is invalid');

// A client whose clock runs ahead of ours signs tokens from the future.
const clockSkewSeconds = 60;

/** What the token allows, as of the moment its keys were looked up; a 401 Problem if it is not good. */
export async function verifyPublicToken(ring: SigningKeyRing, token: string): Promise<Loaded<Principal>> {
  const claims = claimsOf(token);
  const signed = claims?.['pub'] === true ? await signedBy(ring, token, claims) : undefined;
  if (!signed) throw invalidPublicToken();
  const { keys, asOf, key, form } = signed;
  const nowMs = keys.now();
  const { payload } = await jwtVerify(token, form, {
    currentDate: new Date(nowMs),
    algorithms: ['HS256'],
    issuer,
    audience,
    requiredClaims: ['sub', 'exp'],
  }).catch(() => {
    throw invalidPublicToken();
  });
  const now = nowMs / 1_000;
  const { iat, exp = now } = payload;
  if (payload['pub'] !== true || (iat !== undefined && iat > now + clockSkewSeconds)) {
    throw invalidPublicToken();
  }
  const { credentialId, actor, endsInMs, expiresAt } = await originOf(ring, payload, signed);
  const tokenDigest = digestOf(token);
  const realtime = realtimeOf(payload);
  const principal: Principal = {
    kind: 'publicToken',
    credentialId,
    environment: keys.environment,
    scopes: scopesOf(payload, key),
    tokenDigest,
    signerId: key.credentialId,
    // No Date reaches beyond this, and a token of a client's may.
    expiresAt: new Date(Math.min(exp * 1_000, 8.64e15, msOf(key.expiresAt), msOf(expiresAt))),
    ...(actor !== undefined && { actor }),
    ...(realtime && { realtime }),
    ...(isOneTime(payload) && { oneTimeDigest: tokenDigest }),
  };
  return { value: principal, asOf, endsInMs: Math.min((exp - now) * 1_000, endsInMs) };
}

interface TokenOrigin {
  readonly credentialId: string;
  readonly actor?: string;
  readonly endsInMs: number;
  /** When the key or personal access token ends that it was made through. */
  readonly expiresAt: Date | null;
}

const msOf = (end: Date | null): number => end?.getTime() ?? Infinity;

/**
 * What the token ends with. One that we made names the key or personal access token it was made through and, where it acts for
 * a user, the user; a client can name neither, its token ends with the key that signed it.
 */
async function originOf(
  ring: SigningKeyRing,
  payload: JWTPayload,
  { keys: { keys, environment }, key: signer, asOf, began }: Signed,
): Promise<TokenOrigin> {
  const { via } = payload;
  if (!signer.isServers) {
    if (via !== undefined) throw invalidPublicToken();
    return { credentialId: signer.credentialId, endsInMs: Infinity, expiresAt: signer.expiresAt };
  }
  if (typeof via !== 'string') throw invalidPublicToken();
  let made = keys.get(via);
  const delegate = made ? undefined : await ring.delegate(via, environment.projectId);
  if (!made && !delegate) {
    // The key may have come to be since the keys were looked up.
    const newer = asOf < began ? (await ring.anew(environment.publicId)).value : undefined;
    made = newer?.keys.get(via);
    if (!made) throw invalidPublicToken();
  }
  const { sub: actor } = (payload['act'] ?? {}) as { sub?: unknown };
  return {
    credentialId: via,
    endsInMs: delegate?.endsInMs ?? Infinity,
    expiresAt: (delegate ?? made)?.expiresAt ?? null,
    ...(typeof actor === 'string' && { actor }),
  };
}

/** A claim that narrows what a token allows is understood, or the token is refused. */
function isOneTime({ otu = false }: JWTPayload): boolean {
  if (typeof otu !== 'boolean') throw invalidPublicToken();
  return otu;
}

function realtimeOf({ realtime }: JWTPayload): { skipColumns?: string[] } | undefined {
  if (realtime === undefined) return undefined;
  if (typeof realtime !== 'object' || realtime === null) throw invalidPublicToken();
  const { skipColumns } = realtime as { skipColumns?: unknown };
  if (skipColumns === undefined) return {};
  if (!Array.isArray(skipColumns) || skipColumns.some((column) => typeof column !== 'string')) {
    throw invalidPublicToken();
  }
  return { skipColumns: skipColumns as string[] };
}

/** Never more than the key that signed it allows. */
function scopesOf(payload: JWTPayload, signer: SigningKey): string[] {
  const claimed: unknown[] = Array.isArray(payload['scopes']) ? payload['scopes'] : [];
  return claimed.filter(
    (scope): scope is string => typeof scope === 'string' && grants(signer.scopes, scope),
  );
}

/** Over what is signed, not over the signature: several spellings of one signature in base64 are the same token. */
const digestOf = (token: string): string =>
  hash('sha256', token.slice(0, token.lastIndexOf('.')), 'base64url');
