import { filterWords } from '@millrace/contract/filter';
import type { SearchTexts } from '../../parts/search.ts';

export type ErrorQuery = Readonly<Record<string, string>>;

/** Keys of the filter; words without a key, or with an unknown one, are searched in type and message. */
const keys: Readonly<Record<string, string>> = {
  task: 'filter[taskIdentifier]',
  version: 'filter[version]',
  owner: 'filter[owner]',
};

/** The `listErrors` query for the filter's words. Messages contain colons: `TypeError: x` is a text, not a key. */
export function errorFilterQuery(text: string): ErrorQuery {
  const query: Record<string, string> = {};
  const searched: string[] = [];
  for (const { key, value, from, to } of filterWords(text)) {
    const name = key === undefined ? undefined : keys[key];
    if (name === undefined) searched.push(key === undefined ? value : text.slice(from, to));
    else if (value !== '') query[name] = query[name] === undefined ? value : `${query[name]},${value}`;
  }
  if (searched.length > 0) query['filter[search]'] = searched.join(' ');
  return query;
}

export const ranges = ['1h', '1d', '7d', '30d'] as const;
export const defaultRange = '7d';

/** The query in the list's address, and the period of its trends. `me` is the owner of the reader's errors. */
export function errorListQuery(
  { q = '', status = 'unresolved', range, from, to, sort, owner }: SearchTexts,
  me?: string,
): {
  readonly query: ErrorQuery;
  /** The time range of the requested series. */
  readonly time: { readonly period?: string; readonly from?: string; readonly to?: string };
  readonly trend: string;
} {
  const isBrushed = from !== undefined && to !== undefined;
  const period = range ?? defaultRange;
  const time = isBrushed ? { from, to } : { period: period === 'all' ? '30d' : period };
  return {
    query: {
      ...errorFilterQuery(q),
      ...(owner === 'me' && me !== undefined && { 'filter[owner]': me }),
      ...(status !== 'all' && { 'filter[status]': status }),
      ...(isBrushed
        ? { 'filter[from]': from, 'filter[to]': to }
        : period !== 'all' && { 'filter[period]': period }),
      ...(sort !== undefined && { sort }),
    },
    time,
    trend: time.period ?? defaultRange,
  };
}
