/** The tokens with which a provider reports that a user has logged out (OpenID Connect Back-Channel Logout 1.0). */
import { createRemoteJWKSet, errors, jwtVerify, type JWTVerifyGetKey } from 'jose';
import type { ServerMetadata } from 'openid-client';
import { OidcFailure } from './failure.ts';
import { clockToleranceSeconds } from './settings.ts';

const event = 'http://schemas.openid.net/event/backchannel-logout';
const timeoutMs = 5_000;

/** Reads these tokens with the provider's keys, which are fetched once, and again for an unknown key. */
export function logoutTokenReader() {
  let known: { readonly url: string; readonly keys: JWTVerifyGetKey } | undefined;

  const keysAt = (url: string): JWTVerifyGetKey => {
    if (known?.url !== url)
      known = { url, keys: createRemoteJWKSet(new URL(url), { timeoutDuration: timeoutMs }) };
    return known.keys;
  };

  return async (
    token: string,
    { issuer, jwks_uri: url }: ServerMetadata,
    clientId: string,
  ): Promise<{ issuer: string; subject: string; at: Date }> => {
    if (url === undefined) throw new OidcFailure('misconfigured', 'no_jwks_uri');
    const { payload } = await jwtVerify(token, keysAt(url), {
      issuer,
      audience: clientId,
      clockTolerance: clockToleranceSeconds,
      requiredClaims: ['iat', 'jti'],
    }).catch((error: unknown) => {
      throw error instanceof errors.JWKSTimeout
        ? new OidcFailure('unreachable', error.code)
        : new OidcFailure('invalid', error instanceof errors.JOSEError ? error.code : 'unknown');
    });
    const { sub, iat, nonce, events } = payload;
    const isLogout = typeof events === 'object' && events !== null && event in events;
    // An id token has a nonce and must not log a user out.
    if (!isLogout || nonce !== undefined || iat === undefined)
      throw new OidcFailure('invalid', 'no_logout_token');
    if (sub === undefined) throw new OidcFailure('invalid', 'no_subject');
    return { issuer, subject: sub, at: new Date(iat * 1_000) };
  };
}
