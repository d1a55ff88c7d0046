/** Decides whether a caller may use an operation, from its access rule, before the handler runs. */
import {
  environmentKind,
  isAtLeast,
  browserRole,
  type Access,
  type Method,
  type ResourceType,
  type Role,
} from '@millrace/contract';
import type { FindRole } from '../auth/membership.ts';
import { isUser, type Principal, type UserPrincipal } from '../auth/principal.ts';
import { allows, isUnrestricted } from '../auth/scopes.ts';
import { forbidden, notFound, Problem } from '../problem.ts';

const wrongKind: Readonly<Record<Exclude<Principal['kind'], 'browser'>, string>> = {
  secretKey: 'Invalid Access Token: this operation requires a personal access token',
  publicToken: 'Invalid API key: this operation does not accept public access tokens',
  personalAccessToken: "Invalid API key: this operation requires an environment's secret key",
};

/** 401 if the operation does not accept this kind of credential; 403 if no scope could allow the call. */
export function admit(principal: Principal, access: Access, method: Method): void {
  if (principal.kind === 'browser') return admitBrowser(principal, access);
  if (!access[principal.kind]) {
    if (principal.kind === 'publicToken' && access.forbidsPublicToken) throw forbidden();
    throw new Problem('credential_not_accepted', wrongKind[principal.kind]);
  }
  if (access.forbidsRuns && principal.kind === 'secretKey' && principal.attempt) {
    throw new Problem('unauthorized', 'A run may not do this: use a secret key for this call', {
      code: 'unauthorized',
      param: 'access_token',
      type: 'authorization',
    });
  }
  if (principal.kind === 'secretKey' && access.keysOf?.includes(principal.environment.kind) === false) {
    throw forbidden();
  }
  if (access.anyScope) return;
  if (access.action === undefined && isRestricted(principal)) throw forbidden();
  const isOneTime = principal.kind === 'publicToken' && principal.oneTimeDigest !== undefined;
  if (isOneTime && !access.oneTime && method !== 'GET') throw forbidden();
}

/** Always 403, because the dashboard takes a 401 to mean that the session has ended. */
function admitBrowser(principal: Extract<Principal, { kind: 'browser' }>, access: Access): void {
  const least = browserRole(access);
  if (least === false)
    throw forbidden('a browser session may not do this. Use the command line, or a key or token.');
  // For users' operations on a path, `roleOf` finds the role.
  if (isUser(principal) || least === 'own' || isAtLeast(principal.role, least)) return;
  throw forbidden(`this needs the role ${least}; your role here is ${principal.role}.`);
}

/**
 * The path parameter that holds the object's id, by resource type. A scope for that id is enough to call the operation.
 * Looked up by name, so that a project reference in a path is never mistaken for a run id.
 */
const objectParameter: Readonly<Partial<Record<ResourceType, string>>> = {
  runs: 'runId',
  tasks: 'taskId',
  batch: 'batchId',
  errors: 'errorId',
  sessions: 'session',
  waitpoints: 'waitpointId',
};

type Params = Readonly<Record<string, string | undefined>>;

/** Whether the caller's scopes cover the operation, for all objects or for the object in the path. */
export function covers(principal: Principal, { action, on, anyScope }: Access, params: Params): boolean {
  // The permissions of a browser session were decided by the role.
  if (anyScope || principal.kind === 'browser' || !isRestricted(principal)) return true;
  if (action === undefined || on === undefined) return false;
  const name = objectParameter[on];
  const id = name === undefined ? undefined : params[name];
  return allows(principal.scopes, action, [{ type: on, ...(typeof id === 'string' && { id }) }]);
}

/**
 * The scope that a restricted key lacks for an operation. It is not returned to holders of public tokens, which are typically frontends.
 */
export const missingScope = (principal: Principal | null, { action, on }: Access): string | undefined =>
  principal?.kind === 'secretKey' && !principal.attempt && action !== undefined && on !== undefined
    ? `this needs a key with the scope ${action}:${on}, which this key does not have.`
    : undefined;

/**
 * The user's role in the organization of the path. 404 for a project or organization that they do not belong to, as for one that does not
 * exist; 403 if the role is insufficient. Undefined if the operation requires no role.
 */
export async function roleOf(
  findRole: FindRole,
  principal: Principal,
  access: Access,
  { projectRef, organization, env }: Params,
): Promise<Role | undefined> {
  const isDev = access.devRole !== undefined && env !== undefined && environmentKind(env) === 'dev';
  const least = isDev ? access.devRole : access.role;
  if (!isUser(principal) || least === undefined) return undefined;
  const role = await findRole(principal.userId, { projectRef, organization });
  if (role === undefined) {
    throw projectRef === undefined
      ? notFound('Organization not found', false, 'organization_not_found')
      : notFound('Project not found', false, 'project_not_found');
  }
  if (!isAtLeast(role, least)) throw forbidden();
  return role;
}

const isRestricted = (principal: Principal): principal is Exclude<Principal, UserPrincipal> =>
  !isUser(principal) && !isUnrestricted(principal.scopes);
