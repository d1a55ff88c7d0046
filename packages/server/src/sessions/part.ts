import { isUnrestricted, parseScope } from '../auth/scopes.ts';
import type { Principal } from '../auth/principal.ts';
import type { Io } from '../log/key.ts';
import type { Identity } from '../request.ts';

/**
 * What a scope may name of a session instead of the whole: `{session}:out`, `{session}:channels:{name}`, and
 * `{session}:channels:{name}:out`. Answers those of this channel that the caller's scopes do name.
 */
export function namedParts(
  principal: Principal,
  session: readonly Identity[],
  io: Io,
  side: string | undefined,
): string[] {
  // Whoever may do everything need not have it named.
  if (principal.kind === 'personalAccessToken' || isUnrestricted(principal.scopes)) return [];
  const channel = side === undefined ? '' : `:channels:${side}`;
  const endings = [...(side === undefined ? [] : [channel]), ...(io === 'out' ? [`${channel}:out`] : [])];
  const named = new Set(principal.scopes.map((text) => parseScope(text).id));
  return session
    .flatMap(({ id }) => endings.map((ending) => `${id}${ending}`))
    .filter((part) => named.has(part));
}
