import { isUnrestricted, parseScope } from '../auth/scopes.ts';
import { isUser, type Principal } from '../auth/principal.ts';
import type { Io } from '../channels/key.ts';
import type { Identity } from '../request.ts';

/**
 * A scope may name a part of a session: `{session}:out`, `{session}:channels:{name}` or `{session}:channels:{name}:out`. Returns the parts
 * with this channel that the caller's scopes name.
 */
export function namedParts(
  principal: Principal,
  session: readonly Identity[],
  io: Io,
  side: string | undefined,
): string[] {
  // These callers may do everything.
  if (isUser(principal) || isUnrestricted(principal.scopes)) return [];
  const channel = side === undefined ? '' : `:channels:${side}`;
  const endings = [...(side === undefined ? [] : [channel]), ...(io === 'out' ? [`${channel}:out`] : [])];
  const named = new Set(principal.scopes.map((text) => parseScope(text).id));
  return session
    .flatMap(({ id }) => endings.map((ending) => `${id}${ending}`))
    .filter((part) => named.has(part));
}
