import { isUser, type Principal } from '../auth/principal.ts';
import { isUnrestricted } from '../auth/scopes.ts';

/** Identifies the uploader of a packet; null for an unrestricted caller. */
export function uploaderOf(principal: Principal): string | null {
  if (isUser(principal) || isUnrestricted(principal.scopes)) return null;
  // A key is identified by its id; a token by its digest, because several tokens have the same key.
  return principal.kind === 'publicToken'
    ? `token:${principal.tokenDigest}`
    : `key:${principal.credentialId}`;
}
