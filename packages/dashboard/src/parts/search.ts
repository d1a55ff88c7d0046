import { useNavigate, useSearch } from '@tanstack/react-router';

export type SearchTexts = Readonly<Record<string, string | undefined>>;

/**
 * What the address says after `?`, as texts, and how to change it: everything that a page shows is in its address. A change replaces the entry of
 * the history unless `push` is set: Back then returns to before it.
 *
 * @example
 * const [search, setSearch] = useSearchTexts();
 * setSearch({ tab: 'logs' });
 */
export function useSearchTexts(): readonly [
  SearchTexts,
  (change: SearchTexts, options?: { readonly push?: boolean }) => void,
] {
  const search = useSearch({ strict: false }) as SearchTexts;
  const navigate = useNavigate();
  const change = (texts: SearchTexts, { push = false }: { readonly push?: boolean } = {}): void => {
    void navigate({
      to: '.',
      search: (before: SearchTexts) => ({ ...before, ...texts }),
      replace: !push,
      resetScroll: false,
    } as never);
  };
  return [search, change];
}
