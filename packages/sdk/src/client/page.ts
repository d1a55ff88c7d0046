/** A page of a list. */
export interface Page<T> {
  readonly data: readonly T[];
  /** The start of the next page: pass it as `after`, or as `page` where pages are numbered. Undefined on the last page. */
  readonly next: string | undefined;
  hasNextPage(): boolean;
  /** Throws a RangeError when there is no next page. */
  getNextPage(): Promise<Page<T>>;
  hasPreviousPage(): boolean;
  /** Throws a RangeError when there is no previous page. */
  getPreviousPage(): Promise<Page<T>>;
}

/** Await it for the first page, or iterate over it for every item of every page. */
export type PageList<T> = Promise<Page<T>> & AsyncIterable<T>;

export interface PageAt<T> {
  readonly data: readonly T[];
  readonly pagination: { readonly next?: string | undefined; readonly previous?: string | undefined };
}

/** Where a page starts: after one cursor or before another. */
export interface Cursor {
  readonly after?: string | undefined;
  readonly before?: string | undefined;
}

type Fetch<T> = (cursor: Cursor) => Promise<PageAt<T>>;

async function pageAt<T>(fetch: Fetch<T>, cursor: Cursor): Promise<Page<T>> {
  const { data, pagination } = await fetch(cursor);
  const { next, previous } = pagination;
  return {
    data,
    next,
    hasNextPage: () => next !== undefined,
    hasPreviousPage: () => previous !== undefined,
    async getNextPage() {
      if (next === undefined) throw new RangeError('There is no next page; check hasNextPage() first.');
      return pageAt(fetch, { after: next });
    },
    async getPreviousPage() {
      if (previous === undefined)
        throw new RangeError('There is no previous page; check hasPreviousPage() first.');
      return pageAt(fetch, { before: previous });
    },
  };
}

/** Starts with the page at `cursor`. The first request is sent immediately. */
export function pages<T>(fetch: Fetch<T>, cursor: Cursor): PageList<T> {
  const first = pageAt(fetch, cursor);
  async function* items(): AsyncGenerator<T, void, undefined> {
    let page = await first;
    yield* page.data;
    while (page.hasNextPage()) {
      page = await page.getNextPage();
      yield* page.data;
    }
  }
  return Object.assign(first, { [Symbol.asyncIterator]: items });
}

/** Like `pages`, for a list with numbered pages, starting at `first`. */
export const numberedPages = <T>(
  first: number,
  fetch: (page: number) => Promise<{
    readonly data: readonly T[];
    readonly pagination: { readonly currentPage: number; readonly totalPages: number };
  }>,
): PageList<T> =>
  pages(async ({ after, before }) => {
    const { data, pagination } = await fetch(Number(after ?? before ?? first));
    const { currentPage, totalPages } = pagination;
    return {
      data,
      pagination: {
        next: currentPage < totalPages ? String(currentPage + 1) : undefined,
        previous: currentPage > 1 ? String(currentPage - 1) : undefined,
      },
    };
  }, {});
