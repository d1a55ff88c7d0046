import { parts } from './parts/index.ts';

/** Whether scopes of a key include an action on all objects of a type. Scopes for single objects are not sufficient. */
const allows = (scopes: readonly string[], action: 'read' | 'write' | 'trigger', on: string): boolean =>
  scopes.some(
    (scope) =>
      scope === 'admin' || scope === `${action}:${on}` || (action === 'trigger' && scope === `write:${on}`),
  );

/** The permissions that a key lacks to export or import these kinds, such as `write:queues`. */
export function lackingRights(
  scopes: readonly string[],
  of: ReadonlySet<string>,
  act: 'export' | 'import',
): string[] {
  const needed = parts
    .filter(({ kind }) => of.has(kind))
    .flatMap(({ kind, on, isAdmin }) => {
      const read = { right: `read:${on}`, has: allows(scopes, 'read', on), kind };
      if (act === 'export') return [read];
      if (isAdmin) return [{ right: 'admin', has: scopes.includes('admin'), kind }];
      return [read, { right: `write:${on}`, has: allows(scopes, 'write', on), kind }];
    });
  if (of.has('schedule') && act === 'import')
    needed.push({ right: 'read:tasks', has: allows(scopes, 'read', 'tasks'), kind: 'schedule' });
  if (of.has('run') && act === 'import')
    needed.push({ right: 'trigger:tasks', has: allows(scopes, 'trigger', 'tasks'), kind: 'run' });
  if ((of.has('run') || of.has('finished-run')) && act === 'export')
    needed.push({ right: 'read:runs', has: allows(scopes, 'read', 'runs'), kind: 'run' });
  return [...new Set(needed.filter(({ has }) => !has).map(({ right, kind }) => `${right} (for ${kind})`))];
}
