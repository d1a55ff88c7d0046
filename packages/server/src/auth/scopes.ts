import type { Identity } from '../request.ts';
import { isUser, type Principal } from './principal.ts';

/**
 * Scopes: `action[:type[:id]]`. Only the first two colons separate; the id may contain colons.
 * A scope without an id covers every object of its type; one with an id never covers the whole type.
 */
export interface Scope {
  readonly action: string;
  readonly type?: string;
  readonly id?: string;
}

export function parseScope(text: string): Scope {
  const first = text.indexOf(':');
  if (first === -1) return { action: text };
  const action = text.slice(0, first);
  const second = text.indexOf(':', first + 1);
  if (second === -1) return { action, type: text.slice(first + 1) };
  return { action, type: text.slice(first + 1, second), id: text.slice(second + 1) };
}

/** `admin` allows everything; a key without it is restricted. */
export const isUnrestricted = (scopes: readonly string[]): boolean => scopes.includes('admin');

/** Whether the scopes allow the action on one of the identities of one object. */
export function allows(scopes: readonly string[], action: string, identities: readonly Identity[]): boolean {
  for (const text of scopes) {
    if (text === 'admin') return true;
    const scope = parseScope(text);
    if (!coversAction(scope.action, action)) continue;
    if (identities.some((identity) => coversIdentity(scope, identity))) return true;
  }
  return false;
}

/** Whether `scopes` cover everything that `requested` allows, so that the holder may grant it. */
export function grants(scopes: readonly string[], requested: string): boolean {
  if (isUnrestricted(scopes)) return true;
  const { action, type, id } = parseScope(requested);
  return type !== undefined && type !== '' && allows(scopes, action, [{ type, id }]);
}

/** The identities for "any task": all tasks, and each task that the caller's scopes name. */
export function someTask(principal: Principal): Identity[] {
  const scopes = isUser(principal) ? [] : principal.scopes;
  const named = scopes.map(parseScope).filter(({ type, id }) => type === 'tasks' && id !== undefined);
  return [{ type: 'tasks' }, ...named.map(({ id }) => ({ type: 'tasks', id }))];
}

const impliedByWrite = new Set(['trigger', 'batchTrigger', 'update', 'deploy']);

const coversAction = (granted: string, action: string): boolean =>
  granted === action || granted === '*' || (granted === 'write' && impliedByWrite.has(action));

const coversIdentity = (scope: Scope, { type, id }: Identity): boolean =>
  scope.type !== undefined &&
  (scope.type === type || scope.type === 'all') &&
  (scope.id === undefined || scope.id === id);
