/** Public tokens on request: how long they last and what they may be asked to allow. */
import { parseTimeSpan } from '@millrace/contract';
import { badRequest, Problem } from '../problem.ts';
import { grants, parseScope } from './scopes.ts';

/** What a token may be asked to live at most. */
export interface MaxLifetime {
  readonly seconds: number;
  /** As the refusal says it. */
  readonly text: string;
}

export const maxLifetime: MaxLifetime = { seconds: 30 * 86_400, text: '30 days' };
/** One that outlives the attempt that made it is good for what somebody watches, not for keeping. */
export const maxLifetimeByRun: MaxLifetime = {
  seconds: 86_400,
  text: '24 hours for a token that is made by a run',
};

/** Seconds from now until a token that is asked for ends. A text is a time span from now, a number seconds since 1970. */
export function readExpirationTime(
  asked: string | number | undefined,
  fallbackSeconds: number,
  nowMs: number,
  max: MaxLifetime = maxLifetime,
): number {
  if (asked === undefined) return fallbackSeconds;
  const ms = typeof asked === 'number' ? asked * 1_000 - nowMs : parseTimeSpan(asked);
  if (typeof ms !== 'number') throw badRequest(`Invalid expiration time: ${ms.error}`);
  if (ms <= 0) throw badRequest('Expiration time must be in the future');
  // A whole second of grace: the client's clock told it what the latest time is.
  if (ms > max.seconds * 1_000 + 1_000) throw badRequest(`Expiration time cannot exceed ${max.text}`);
  return ms / 1_000;
}

/** Whether it is for one action: not `admin`, which is everything, nor any action. */
const isGrantable = (scope: string): boolean =>
  /^(?:read|write|trigger|batchTrigger|update)$/.test(parseScope(scope).action);

/** What a header of 64 KiB can carry with everything else in it, after the scopes have been written as base64. */
const maxScopesLength = 32_768;

/** 400 for so many scopes that no request could carry the token. */
export function refuseTooMuch(scopes: readonly string[]): void {
  const length = scopes.reduce((sum, scope) => sum + Buffer.byteLength(JSON.stringify(scope)) + 1, 0);
  if (length > maxScopesLength) {
    throw badRequest(
      `scopes: ${length} bytes are more than the ${maxScopesLength} that a token can carry; name whole kinds, or make several tokens`,
    );
  }
}

/** 403 unless whoever holds `held` may hand on every scope that is asked for. */
export function refuseScopesBeyond(
  held: readonly string[],
  asked: readonly string[],
  mayHandOn: (scope: string) => boolean = () => true,
): void {
  const deniedScopes = asked.filter(
    (scope) => !(isWellFormed(scope) && mayHandOn(scope) && grants(held, scope)),
  );
  if (deniedScopes.length === 0) return;
  throw new Problem(403, "Requested scopes exceed the API key's access", {
    code: 'scopes_exceed_key_access',
    deniedScopes: deniedScopes.slice(0, 20),
  });
}

/** Only bare `admin` may name no type. */
function isWellFormed(scope: string): boolean {
  if (scope === 'admin') return true;
  const { action, type, id } = parseScope(scope);
  return action !== '' && type !== undefined && type !== '' && id !== '';
}

/** The same for a run: a token that outlives it is for single objects. */
export function refuseScopesBeyondRun(held: readonly string[], asked: readonly string[]): void {
  refuseScopesBeyond(held, asked, (scope) => isGrantable(scope) && isOfOneObject(scope));
}

function isOfOneObject(scope: string): boolean {
  const { type, id } = parseScope(scope);
  return id !== undefined && id !== '*' && type !== 'all' && type !== '*';
}

/** 403 for what a member may not hand on: everything, or any action. Who may make keys may. */
export function refuseScopesBeyondMember(mayMakeKeys: boolean, asked: readonly string[]): void {
  refuseScopesBeyond(['admin'], asked, mayMakeKeys ? undefined : isGrantable);
}
