import type { Operations } from '@millrace/contract';
import { routes } from '@millrace/contract/plain';

export type QueryValue = string | number | undefined;

/** The path of an operation with its parameters filled in, and the query appended. */
export function pathOf(
  operation: keyof Operations,
  params: Readonly<Record<string, string>> = {},
  query?: Readonly<Record<string, QueryValue>>,
): string {
  const path = routes[operation][1].replace(/:(\w+)/g, (_, name: string) => {
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
