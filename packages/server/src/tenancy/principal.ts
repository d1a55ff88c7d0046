import { isUser, type Principal, type UserPrincipal } from '../auth/principal.ts';

/** The credential of a user, for operations that accept only users. */
export function asUser({ principal }: { readonly principal: Principal }): UserPrincipal {
  if (!isUser(principal)) throw new TypeError('Only a user can call this operation.');
  return principal;
}

export const userOf = (request: { readonly principal: Principal }): string => asUser(request).userId;
