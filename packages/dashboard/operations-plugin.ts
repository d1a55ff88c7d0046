import { browserRole, operations, type OperationDeclaration } from '@millrace/contract';
import type { Plugin } from 'vite';

const name = 'virtual:operations';
const resolved = `\0${name}`;

/**
 * `import operations from 'virtual:operations'`: method and path of each operation, and the role that a browser session needs for it, where it is
 * another one in dev with that. The schemas, and zod with them, stay out.
 */
export const operationsPlugin = (): Plugin => ({
  name: 'millrace-operations',
  resolveId: (id) => (id === name ? resolved : undefined),
  load(id) {
    if (id !== resolved) return undefined;
    const all: readonly OperationDeclaration[] = Object.values(operations);
    const table = all.map(({ id: operation, method, path, access }) => [
      operation,
      [method, path, browserRole(access), access.devRole].filter((word) => word !== undefined).join(' '),
    ]);
    return `export default ${JSON.stringify(Object.fromEntries(table))};`;
  },
});
