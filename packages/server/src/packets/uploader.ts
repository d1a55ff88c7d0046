import type { Principal } from '../auth/principal.ts';
import { isUnrestricted } from '../auth/scopes.ts';

/** What a packet keeps of who sends it; null for whoever may do anything in the environment. */
export function uploaderOf(principal: Principal): string | null {
  if (principal.kind === 'personalAccessToken' || isUnrestricted(principal.scopes)) return null;
  // A key as long as it lives; a token alone, for others are made through the same key.
  return principal.kind === 'publicToken'
    ? `token:${principal.tokenDigest}`
    : `key:${principal.credentialId}`;
}
