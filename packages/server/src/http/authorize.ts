/** Who may call an operation: decided from its access rule before its handler is reached. */
import type { Access, ResourceType } from '@millrace/contract';
import type { Principal } from '../auth/principal.ts';
import { allows, isUnrestricted } from '../auth/scopes.ts';
import { forbidden, unauthorized } from '../problem.ts';

const wrongKind: Readonly<Record<Principal['kind'], string>> = {
  secretKey: 'Invalid Access Token: this operation takes a personal access token',
  publicToken: 'Invalid API key: this operation does not take public access tokens',
  personalAccessToken: "Invalid API key: this operation takes an environment's secret key",
};

/** 401 unless the operation takes this kind of credential; 403 for a restricted caller when it has no rule for them. */
export function admit(principal: Principal, access: Access): void {
  if (!access[principal.kind]) throw unauthorized(wrongKind[principal.kind]);
  if (access.action === undefined && isRestricted(principal)) throw forbidden();
}

/**
 * The path parameter that names the object of an operation on that type: a scope pinned to that id is enough to call it.
 * By name, not by place: a project reference in a path must never pass for the id of a run.
 */
const objectParameter: Readonly<Partial<Record<ResourceType, string>>> = {
  runs: 'runId',
  tasks: 'taskId',
  batch: 'batchId',
  errors: 'errorId',
  sessions: 'session',
  waitpoints: 'waitpointId',
};

/** Whether the caller's scopes cover the operation, as a whole or for the object that the path names. */
export function covers(
  principal: Principal,
  { action, on }: Access,
  params: Readonly<Record<string, unknown>>,
): boolean {
  if (!isRestricted(principal)) return true;
  if (action === undefined || on === undefined) return false;
  const name = objectParameter[on];
  const id = name === undefined ? undefined : params[name];
  return allows(principal.scopes, action, [{ type: on, ...(typeof id === 'string' && { id }) }]);
}

const isRestricted = (
  principal: Principal,
): principal is Exclude<Principal, { kind: 'personalAccessToken' }> =>
  principal.kind !== 'personalAccessToken' && !isUnrestricted(principal.scopes);
