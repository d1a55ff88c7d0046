/** Public access tokens: JWTs (HS256) signed with an environment's key, by the server or by a client. */
import { hash } from 'node:crypto';
import { jwtVerify, type JWTPayload } from 'jose';
import { unauthorized } from '../problem.ts';
import type { Sql } from '../db/connect.ts';
import { attemptHasLease } from './credential-rows.ts';
import type { AttemptLease, Principal } from './principal.ts';
import type { Loaded } from './lookup-cache.ts';
import { grants } from './scopes.ts';
import { claimsOf, findSigner, type Signed } from './find-signer.ts';
import type { SigningKey, SigningKeyRing } from './signing-keys.ts';

export const issuer = 'https://id.trigger.dev';
export const audience = 'https://api.trigger.dev';

/** The same message for every reason, so that it does not reveal which objects exist. */
const invalidPublicToken = () => unauthorized('Public Access Token is invalid');

// A client with a fast clock signs tokens whose `iat` is in the future.
const clockSkewSeconds = 60;

/** Verifies a token with the environment's keys. Throws a 401 Problem if it is invalid. */
export async function verifyPublicToken(
  ring: SigningKeyRing,
  sql: Sql,
  token: string,
): Promise<Loaded<Principal>> {
  const claims = claimsOf(token);
  const signed = claims?.['pub'] === true ? await findSigner(ring, token, claims) : undefined;
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
  const attempt = attemptOf(payload);
  if (attempt && !(await attemptHasLease(sql, keys.environment.id, attempt.run, attempt.fence)))
    throw invalidPublicToken();
  const principal: Principal = {
    kind: 'publicToken',
    credentialId,
    environment: keys.environment,
    scopes: scopesOf(payload, key),
    tokenDigest,
    signerId: key.credentialId,
    // The largest Date: `exp` of a client's token may be larger.
    expiresAt: new Date(Math.min(exp * 1_000, 8.64e15, msOf(key.expiresAt), msOf(expiresAt))),
    ...(actor !== undefined && { actor }),
    ...(realtime && { realtime }),
    ...(attempt && { attempt }),
    ...(isOneTime(payload) && { oneTimeDigest: tokenDigest }),
  };
  return { value: principal, asOf, endsInMs: Math.min((exp - now) * 1_000, endsInMs) };
}

interface TokenOrigin {
  readonly credentialId: string;
  readonly actor?: string;
  readonly endsInMs: number;
  /** When the key or personal access token that created it ends. */
  readonly expiresAt: Date | null;
}

const msOf = (end: Date | null): number => end?.getTime() ?? Infinity;

/**
 * The credential that created the token; the token ends with it. A token of the server names that key or personal access token and, if it
 * acts for a user, the user. A client's token names neither and ends with the key that signed it.
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
  let tokenIssuer = keys.get(via);
  const delegate = tokenIssuer ? undefined : await ring.delegate(via, environment.projectId);
  if (!tokenIssuer && !delegate) {
    // The key may be newer than the cached keys.
    const newer = asOf < began ? (await ring.anew(environment.publicId)).value : undefined;
    tokenIssuer = newer?.keys.get(via);
    if (!tokenIssuer) throw invalidPublicToken();
  }
  const { sub: actor } = (payload['act'] ?? {}) as { sub?: unknown };
  return {
    credentialId: via,
    endsInMs: delegate?.endsInMs ?? Infinity,
    expiresAt: (delegate ?? tokenIssuer)?.expiresAt ?? null,
    ...(typeof actor === 'string' && { actor }),
  };
}

/** A restricting claim that cannot be interpreted makes the token invalid. */
function isOneTime({ otu = false }: JWTPayload): boolean {
  if (typeof otu !== 'boolean') throw invalidPublicToken();
  return otu;
}

function attemptOf({ att }: JWTPayload): AttemptLease | undefined {
  if (att === undefined) return undefined;
  const { run, fence } = (att ?? {}) as Partial<Record<keyof AttemptLease, unknown>>;
  if (typeof run !== 'string' || !Number.isSafeInteger(fence)) throw invalidPublicToken();
  return { run, fence: fence as number };
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

/** Limited to the scopes of the signing key. */
function scopesOf(payload: JWTPayload, signer: SigningKey): string[] {
  const claimed: unknown[] = Array.isArray(payload['scopes']) ? payload['scopes'] : [];
  return claimed.filter(
    (scope): scope is string => typeof scope === 'string' && grants(signer.scopes, scope),
  );
}

/** Excludes the signature, because base64 can encode one signature in several ways. */
const digestOf = (token: string): string =>
  hash('sha256', token.slice(0, token.lastIndexOf('.')), 'base64url');
