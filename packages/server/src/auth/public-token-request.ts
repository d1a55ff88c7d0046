/** Checks requests for public tokens: their lifetime and their scopes. */
import { parseTimeSpan } from '@millrace/contract';
import { badRequest, Problem } from '../problem.ts';
import { grants, parseScope } from './scopes.ts';

/** The longest lifetime of a token. */
export interface MaxLifetime {
  readonly seconds: number;
  /** Shown in the error message. */
  readonly text: string;
}

export const maxLifetime: MaxLifetime = { seconds: 30 * 86_400, text: '30 days' };
/** A token created by a run outlives its attempt, so its lifetime is shorter. */
export const maxLifetimeByRun: MaxLifetime = {
  seconds: 86_400,
  text: '24 hours for a token that is created by a run',
};

/** Seconds until the requested expiry. A string is a time span from now, a number is seconds since 1970. */
export function readExpirationTime(
  requested: string | number | undefined,
  fallbackSeconds: number,
  nowMs: number,
  max: MaxLifetime = maxLifetime,
): number {
  if (requested === undefined) return fallbackSeconds;
  const ms = typeof requested === 'number' ? requested * 1_000 - nowMs : parseTimeSpan(requested);
  if (typeof ms !== 'number') throw badRequest(`Invalid expiration time: ${ms.error}`);
  if (ms <= 0) throw badRequest('Expiration time must be in the future');
  // Tolerance for the client's clock: one second.
  if (ms > max.seconds * 1_000 + 1_000) throw badRequest(`Expiration time cannot exceed ${max.text}`);
  return ms / 1_000;
}

/** Whether the scope is for one action: neither `admin` nor `*`. */
const isGrantable = (scope: string): boolean =>
  /^(?:read|write|trigger|batchTrigger|update)$/.test(parseScope(scope).action);

/** After base64 encoding, it fits into 64 KiB of headers along with everything else. */
const maxScopesLength = 32_768;

/** 400 if the token would be too long for a header. */
export function refuseTooMuch(scopes: readonly string[]): void {
  const length = scopes.reduce((sum, scope) => sum + Buffer.byteLength(JSON.stringify(scope)) + 1, 0);
  if (length > maxScopesLength) {
    throw badRequest(
      `scopes: ${length} bytes exceed the limit of ${maxScopesLength} bytes; use scopes without ids, or create several tokens`,
    );
  }
}

/** 403 unless the holder of `granted` may grant every requested scope. */
export function refuseScopesBeyond(
  granted: readonly string[],
  requested: readonly string[],
  mayHandOn: (scope: string) => boolean = () => true,
): void {
  const deniedScopes = requested.filter(
    (scope) => !(isWellFormed(scope) && mayHandOn(scope) && grants(granted, scope)),
  );
  if (deniedScopes.length === 0) return;
  throw new Problem('scopes_exceed_key_access', "Requested scopes exceed the API key's access", {
    code: 'scopes_exceed_key_access',
    deniedScopes: deniedScopes.slice(0, 20),
  });
}

/** Only `admin` may omit the type. */
function isWellFormed(scope: string): boolean {
  if (scope === 'admin') return true;
  const { action, type, id } = parseScope(scope);
  return action !== '' && type !== undefined && type !== '' && id !== '';
}

/** For runs: a token may outlive its run, so every scope must name one object. */
export function refuseScopesBeyondRun(granted: readonly string[], requested: readonly string[]): void {
  refuseScopesBeyond(granted, requested, (scope) => isGrantable(scope) && isOfOneObject(scope));
}

function isOfOneObject(scope: string): boolean {
  const { type, id } = parseScope(scope);
  return id !== undefined && id !== '*' && type !== 'all' && type !== '*';
}

/** For members: neither `admin` nor `*`, unless the member may create keys. */
export function refuseScopesBeyondMember(mayMakeKeys: boolean, requested: readonly string[]): void {
  refuseScopesBeyond(['admin'], requested, mayMakeKeys ? undefined : isGrantable);
}
