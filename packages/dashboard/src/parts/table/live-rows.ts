import { useEffect, useState } from 'react';
import { useAsk, useAskPages, type ItemOf, type ListName, type Pages } from '../../api/ask.ts';
import { useEnvironment } from '../../api/environment.ts';
import type { InputOf } from '../../api/operation-types.ts';

interface LiveRows<R> {
  readonly rows: readonly R[];
  /** Number of new rows that are not shown yet. */
  readonly fresh: number;
  readonly showFresh: () => void;
}

/**
 * The rows of a loaded list, updated by the latest response for its first page. New rows are shown on request, or automatically at the top of
 * the page while the pointer is on no row: a row under the pointer never moves.
 */
export function useLiveRows<R>(
  pages: Pages<R>,
  /** The first page, requested repeatedly. */
  head: readonly R[] | undefined,
  keyOf: (row: R) => string,
  /** Identifies the list: a change resets everything. */
  list: string,
): LiveRows<R> {
  const [added, setAdded] = useState<{ readonly list: string; readonly rows: readonly R[] }>({
    list,
    rows: [],
  });
  const before = added.list === list ? added.rows : [];
  const newest = new Map((head ?? []).map((row) => [keyOf(row), row]));
  const known = new Set<string>();
  const rows = [...before, ...pages.items].flatMap((row) => {
    const key = keyOf(row);
    if (known.has(key)) return [];
    known.add(key);
    return [newest.get(key) ?? row];
  });
  const fresh = pages.isPending ? [] : (head ?? []).filter((row) => !known.has(keyOf(row)));
  const showFresh = (): void => {
    // The whole first page is new: there may be further rows between it and the loaded ones.
    const hasGap = fresh.length === head?.length && rows.length > 0;
    setAdded({ list, rows: hasGap ? [] : [...fresh, ...before] });
    if (hasGap || rows.length === 0) pages.reset();
  };

  useEffect(() => {
    if (fresh.length === 0) return;
    const isRead = window.scrollY > 40 || document.querySelector('.table-row:hover') !== null;
    if (!isRead) showFresh();
  });
  return { rows, fresh: fresh.length, showFresh };
}

export interface LiveList<R> extends LiveRows<R> {
  readonly pages: Pages<R>;
}

/**
 * A list with keyset pages, of which the first is requested repeatedly. `live`: interval in milliseconds.
 *
 * @example
 * const list = useLiveList('listBatches', given, ({ id }) => id);
 */
export function useLiveList<N extends ListName>(
  name: N,
  input: InputOf<N>,
  keyOf: (row: ItemOf<N>) => string,
  { live = true, enabled = true }: { readonly live?: number | true; readonly enabled?: boolean } = {},
) {
  const environment = useEnvironment();
  const pages = useAskPages(name, input, { enabled });
  const head = useAsk(name, input, { live, keepPrevious: false, enabled });
  const first = head.data as { readonly data: readonly ItemOf<N>[] } | undefined;
  const list = JSON.stringify([environment, input]);
  return { ...useLiveRows(pages, first?.data, keyOf, list), pages, head: head.data };
}
