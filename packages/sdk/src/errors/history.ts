import type { ErrorChange as WireChange } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';
import { pages, type PageList } from '../client/page.ts';
import { errorId, type ErrorReference } from './error-group.ts';

type Moment = 'resolvedAt' | 'ignoredAt' | 'ignoredUntil';

/** A change of an error group, and its state before. */
export type ErrorChange = Omit<WireChange, 'at' | 'before'> & {
  readonly at: Date;
  readonly before: Omit<WireChange['before'], Moment> & { readonly [K in Moment]?: Date | undefined };
};

/**
 * When an error group was resolved, ignored and reopened, and by whom, newest first. Await the result for the first page, or iterate over it
 * for all. Throws a NotFoundError for an unknown group.
 *
 * @example
 * for await (const { at, act, userId } of errors.history('error_0123456789abcdef')) console.log(at, act, userId);
 */
export function history(error: ErrorReference, { limit }: { limit?: number } = {}): PageList<ErrorChange> {
  const client = currentClient();
  const params = { errorId: errorId(error) };
  return pages(async ({ after }) => {
    const { data, pagination } = await client.call('listErrorHistory', {
      params,
      query: { 'page[after]': after, 'page[size]': limit },
    });
    return { data: data.map(fromWire), pagination };
  }, {});
}

const fromWire = ({ at, before, ...change }: WireChange): ErrorChange => {
  const { resolvedAt, ignoredAt, ignoredUntil, ...state } = before;
  return {
    ...change,
    at: new Date(at),
    before: {
      ...state,
      ...(resolvedAt !== undefined && { resolvedAt: new Date(resolvedAt) }),
      ...(ignoredAt !== undefined && { ignoredAt: new Date(ignoredAt) }),
      ...(ignoredUntil !== undefined && { ignoredUntil: new Date(ignoredUntil) }),
    },
  };
};
