import { browserRole, operations, type OperationDeclaration } from '@millrace/contract';
import type { Plugin } from 'vite';

const name = 'virtual:roles';
const resolved = `\0${name}`;

/**
 * `import roles from 'virtual:roles'`: the role that a browser session needs for each operation, and the one in dev where that is another.
 * They are derived from the declarations, whose schemas, and zod with them, stay out.
 */
export const rolesPlugin = (): Plugin => ({
  name: 'millrace-roles',
  resolveId: (id) => (id === name ? resolved : undefined),
  load(id) {
    if (id !== resolved) return undefined;
    const all: readonly OperationDeclaration[] = Object.values(operations);
    const table = all.map(({ id: operation, access }) => [
      operation,
      [browserRole(access), access.devRole].filter((word) => word !== undefined).join(' '),
    ]);
    return `export default ${JSON.stringify(Object.fromEntries(table))};`;
  },
});
