import type { Principal } from '../auth/principal.ts';

/** The user of a personal access token, on operations that accept no other credential. */
export function userOf({ principal }: { readonly principal: Principal }): string {
  if (principal.kind !== 'personalAccessToken') throw new TypeError('A user calls this operation.');
  return principal.userId;
}
