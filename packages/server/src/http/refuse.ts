import type { OperationDeclaration } from '@millrace/contract';

/** The table of operations and its handlers do not fit together: a fault of ours that must not be served. */
export class OperationRefused extends Error {
  override name = 'OperationRefused';
}

/** Refuses operations without a handler, handlers without an operation and operations that nobody, or anybody, could call. */
export function refuseUnfitOperations(
  operations: Readonly<Record<string, OperationDeclaration>>,
  handlers: Readonly<Record<string, unknown>>,
  authorizing: readonly string[],
): void {
  for (const name of [...Object.keys(handlers), ...authorizing]) {
    if (!Object.hasOwn(operations, name)) throw new OperationRefused(`There is no operation ${name}.`);
  }
  for (const [name, { access, path, params }] of Object.entries(operations)) {
    const { open, secretKey, personalAccessToken, publicToken, action, on } = access;
    if (typeof handlers[name] !== 'function') throw new OperationRefused(`${name} has no handler.`);
    if (!open && !secretKey && !personalAccessToken && !publicToken) {
      throw new OperationRefused(`${name} has no access rule: name the credentials it takes.`);
    }
    if (open && (secretKey || personalAccessToken || publicToken)) {
      throw new OperationRefused(`${name} is open and names credentials: choose one.`);
    }
    if ((action === undefined) !== (on === undefined)) {
      throw new OperationRefused(`${name} has half a scope rule: give both action and on.`);
    }
    if (publicToken && action === undefined) {
      throw new OperationRefused(`${name} takes public tokens but no scope allows it: give action and on.`);
    }
    if (path.includes(':') && params === undefined) {
      throw new OperationRefused(`${name} has parameters in its path but does not declare them.`);
    }
  }
}
