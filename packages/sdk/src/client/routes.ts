import type { OperationDeclaration, Operations } from '@millrace/contract';

/** The operations that this SDK calls. */
export type Called =
  | 'triggerTask'
  | 'triggerMany'
  | 'retrieveRun'
  | 'cancelRun'
  | 'listRunLogs'
  | 'listErrors'
  | 'retrieveError'
  | 'resolveError';

type Route<D extends OperationDeclaration> = Pick<D, 'method' | 'path'>;

/**
 * Where each operation is. Written again here because the contract brings zod with it, which this package must not load;
 * the types come from the contract, so a route that differs does not compile.
 */
export const routes: { readonly [K in Called]: Route<Operations[K]> } = {
  triggerTask: { method: 'POST', path: '/api/v1/tasks/:taskId/trigger' },
  triggerMany: { method: 'POST', path: '/api/v1/tasks/trigger-many' },
  retrieveRun: { method: 'GET', path: '/api/v3/runs/:runId' },
  cancelRun: { method: 'POST', path: '/api/v2/runs/:runId/cancel' },
  listRunLogs: { method: 'GET', path: '/api/v1/runs/:runId/logs' },
  listErrors: { method: 'GET', path: '/api/v1/errors' },
  retrieveError: { method: 'GET', path: '/api/v1/errors/:errorId' },
  resolveError: { method: 'POST', path: '/api/v1/errors/:errorId/resolve' },
};

export type QueryValue = string | number | undefined;

/** The path of an operation with its parameters filled in, and the query appended. */
export function pathOf(
  operation: Called,
  params: Readonly<Record<string, string>> = {},
  query?: Readonly<Record<string, QueryValue>>,
): string {
  const path = routes[operation].path.replace(/:(\w+)/g, (_, name: string) => {
    const value = params[name];
    if (typeof value !== 'string' || value === '') {
      throw new TypeError(
        `${name} must be a non-empty string; got ${value === '' ? 'an empty one' : typeof value}`,
      );
    }
    return encodeURIComponent(value);
  });
  if (!query) return path;
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return search.size > 0 ? `${path}?${search.toString()}` : path;
}
