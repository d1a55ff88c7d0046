import { isAtLeast } from '@millrace/contract';
import type { OidcRole, OidcSettings } from './settings.ts';

type Claims = Readonly<Record<string, unknown>>;

/** The value of a claim. A name with dots that is not itself a claim is treated as a path, such as `realm_access.roles`. */
function claimIn(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  return name
    .split('.')
    .reduce<unknown>(
      (value, key) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, key)
          ? (value as Claims)[key]
          : undefined,
      claims,
    );
}

/** The groups of a user: a list, or one text. Undefined if the claim is missing. */
export function groupsIn(claims: Claims, name: string): string[] | undefined {
  const value = claimIn(claims, name);
  if (typeof value === 'string') return [value];
  return Array.isArray(value)
    ? value.filter((group): group is string => typeof group === 'string')
    : undefined;
}

/** The highest role granted by any of the groups; undefined for none. */
export const roleOf = (
  groups: readonly string[],
  { roles }: Pick<OidcSettings, 'roles'>,
): OidcRole | undefined =>
  groups
    .map((group) => roles.get(group))
    .filter((role) => role !== undefined)
    .reduce<OidcRole | undefined>(
      (best, role) => (best !== undefined && isAtLeast(best, role) ? best : role),
      undefined,
    );
