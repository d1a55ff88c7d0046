import { actsForUser, type Access, type OperationDeclaration } from '@millrace/contract';

/** The operations and their handlers do not match: a programming error that must prevent the server from starting. */
export class InvalidOperation extends Error {
  override name = 'InvalidOperation';
}

/** Throws for operations without a handler, handlers without an operation, and access rules that allow no caller or every caller. */
export function checkOperations(
  operations: Readonly<Record<string, OperationDeclaration>>,
  handlers: Readonly<Record<string, unknown>>,
): void {
  for (const name of Object.keys(handlers)) {
    if (!Object.hasOwn(operations, name)) throw new InvalidOperation(`Unknown operation ${name}.`);
  }
  for (const [name, { access, path, params }] of Object.entries(operations)) {
    if (typeof handlers[name] !== 'function') throw new InvalidOperation(`${name} has no handler.`);
    if (path.includes(':') && params === undefined) {
      throw new InvalidOperation(`${name} has parameters in its path but does not declare them.`);
    }
    const fault = faultOf(access, path);
    if (fault !== undefined) throw new InvalidOperation(`${name} ${fault}.`);
  }
}

/** The error in an access rule. Each of these would open or close a route by mistake. */
function faultOf(access: Access, path: string): string | undefined {
  const {
    open,
    secretKey,
    personalAccessToken,
    publicToken,
    action,
    on,
    anyScope,
    objects,
    role,
    devRole,
    browser,
  } = access;
  const scoped = secretKey === true || publicToken === true;
  if (!open && !scoped && !personalAccessToken && !browser)
    return 'has no access rule: name the credentials it accepts';
  if (open && (scoped || personalAccessToken || browser)) return 'is open and names credentials: choose one';
  if (typeof browser === 'string' && browser !== 'own' && actsForUser(access))
    return 'requires a role of a browser session, but has no path or environment for it: remove it';
  if ((action === undefined) !== (on === undefined)) return 'has half a scope rule: set both action and on';
  if (anyScope && action !== undefined) return 'requires a scope and accepts any: choose one';
  if (publicToken && action === undefined && !anyScope) {
    return 'accepts public tokens but no scope allows it: set action and on';
  }
  if (objects && action === undefined) return 'requires objects without an action: set action and on';
  const inOrganization = /:(?:projectRef|organization)\b/.test(path);
  if (personalAccessToken && inOrganization && role === undefined) {
    return 'admits users to a project or organization with any role: set the least role';
  }
  if (role !== undefined && !(personalAccessToken && inOrganization)) {
    return 'requires a role that no path or credential has: remove it';
  }
  if (devRole !== undefined && !(role !== undefined && path.includes('/:env'))) {
    return 'has a role for dev but none for other environments, or no environment in its path';
  }
  return undefined;
}
