/** Pages of lists that are read along a key, starting at a cursor. */
import type { Fragment, Queryable } from './db/connect.ts';
import { badRequest } from './problem.ts';

/** The requested page of a list. */
export interface RequestedPage {
  readonly size: number;
  /** The id at which the page begins. Undefined for the first page. */
  readonly cursor: string | undefined;
  /** Whether the page is before the cursor. */
  readonly backward: boolean;
  /** The parameter that the cursor was in. */
  readonly parameter: 'page[before]' | 'page[after]';
}

/** `before` takes precedence over `after`. */
export function requestedPage(query: {
  readonly 'page[size]': number;
  readonly 'page[after]'?: string | undefined;
  readonly 'page[before]'?: string | undefined;
}): RequestedPage {
  const backward = query['page[before]'] !== undefined;
  const parameter = backward ? 'page[before]' : 'page[after]';
  return { size: query['page[size]'], cursor: query[parameter], backward, parameter };
}

/** The requested page of a list in id order. A cursor that is not such an id is rejected with 400. */
export function requestedPageById(
  query: Parameters<typeof requestedPage>[0],
  { pattern, what }: { readonly pattern: RegExp; readonly what: string },
): RequestedPage {
  const requested = requestedPage(query);
  if (requested.cursor !== undefined && !pattern.test(requested.cursor))
    throw unknownCursor(requested, `the id of ${what}`);
  return requested;
}

export const unknownCursor = ({ parameter }: Pick<RequestedPage, 'parameter'>, what: string) => {
  const message = `not ${what}; use a cursor from the pagination of a page`;
  return badRequest('Query Error', [{ code: 'custom', message, path: [parameter] }]);
};

/** The position of a cursor in a list that is ordered by creation time. */
export async function positionIn(
  sql: Queryable,
  table: Fragment,
  env: number,
  requested: RequestedPage,
  what: string,
): Promise<{ readonly id: string; readonly created_at: Date } | undefined> {
  const { cursor } = requested;
  if (cursor === undefined) return undefined;
  const [row] = cursor.includes('\0')
    ? []
    : await sql<{ id: string; created_at: Date }[]>`
        select id, created_at from ${table} where env = ${env} and id = ${cursor}`;
  if (!row) throw unknownCursor(requested, `the id of ${what} of this environment`);
  return row;
}

/** The page of at most `size` rows, from rows that were read in the direction away from the cursor, plus one more if it exists. */
export function pageOf<T extends { readonly id: string }>(
  rows: readonly T[],
  { size, cursor, backward }: RequestedPage,
): { readonly page: T[]; readonly pagination: { readonly next?: string; readonly previous?: string } } {
  const page = rows.slice(0, size);
  if (backward) page.reverse();
  const more = rows.length > size;
  const [first, last] = [page[0], page.at(-1)];
  return {
    page,
    pagination: {
      ...(last && (backward || more) ? { next: last.id } : {}),
      ...(first && (backward ? more : cursor !== undefined) ? { previous: first.id } : {}),
    },
  };
}

/** The page of a list that is only read forward. */
export function onwardPage<T>(
  rows: readonly T[],
  size: number,
  cursorOf: (last: T) => string,
): { readonly page: T[]; readonly pagination: { readonly next?: string } } {
  const page = rows.slice(0, size);
  const last = page.at(-1);
  return { page, pagination: rows.length > size && last !== undefined ? { next: cursorOf(last) } : {} };
}
