import { useNavigate, useSearch } from '@tanstack/react-router';

export type SearchTexts = Readonly<Record<string, string | undefined>>;

/**
 * The query parameters of the address as strings, and a function to change them: the address contains the whole state of a page. A change
 * replaces the history entry unless `push` is set: Back then returns to the earlier state.
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
