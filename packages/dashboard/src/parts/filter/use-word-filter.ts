import { withFilterWord } from '@millrace/contract/filter';
import { useMemo, useRef } from 'react';
import { useSearchTexts } from '../search.ts';
import { wordQuery, type WordKey, type WordQuery } from './word-query.ts';

interface WordFilter {
  /** As in the address, in `q`. */
  readonly text: string;
  /** An invalid filter does not change the query. */
  readonly query: WordQuery;
  readonly error: string | undefined;
  readonly set: (text: string) => void;
  /** Filters the list by one value: for a click on a cell. */
  readonly add: (key: string, value: string) => void;
}

/** The filter of a list in the address, for lists other than runs. `keys` is a constant of the page. */
export function useWordFilter(keys: Readonly<Record<string, WordKey>>): WordFilter {
  const [{ q = '' }, setSearch] = useSearchTexts();
  const read = useMemo(() => wordQuery(q, keys), [q, keys]);
  const lastReadable = useRef<WordQuery>({});
  if ('query' in read) lastReadable.current = read.query;
  const set = (text: string): void => setSearch({ q: text || undefined }, { push: true });
  return {
    text: q,
    query: lastReadable.current,
    error: 'error' in read ? read.error : undefined,
    set,
    add: (key, value) => set(withFilterWord(q, key, value)),
  };
}
