import { filterWords } from '@millrace/contract/filter';

/** The query parameter of a filter key. */
export interface WordKey {
  /** Its parameter, such as `filter[status]`. */
  readonly parameter: string;
  /** The allowed words, each with its value in the query. Default: any text. */
  readonly words?: Readonly<Record<string, string>>;
  /** `time`: an ISO 8601 date. `period`: a number and a unit. */
  readonly kind?: 'time' | 'period';
}

export type WordQuery = Readonly<Record<string, string>>;

const periods = /^\d+(?:s|m|h|d|w)$/;

function valueOf(key: string, { words, kind }: WordKey, value: string): string | { readonly error: string } {
  if (kind === 'period' && !periods.test(value))
    return { error: `"${value}" is not a period; write a number and a unit, such as 30m, 2h or 7d` };
  if (kind === 'time') {
    const at = Date.parse(value);
    if (Number.isNaN(at))
      return { error: `"${value}" is not a time; write a date such as 2026-11-21 or 2026-11-21T10:00` };
    return new Date(at).toISOString();
  }
  if (!words) return value;
  const parts = value.split(',').map((part) => part.trim().toLowerCase());
  const unknown = parts.find((part) => !Object.hasOwn(words, part));
  if (unknown !== undefined)
    return { error: `"${unknown}" is not a ${key}; write one of ${Object.keys(words).join(', ')}` };
  return parts.map((part) => words[part]).join(',');
}

/**
 * The query for a text filter, for lists other than runs. For invalid input, returns `{ error }`, a message with the valid format.
 *
 * @example
 * wordQuery('name:order.created', { name: { parameter: 'filter[name]' } }); // { 'filter[name]': 'order.created' }
 */
export function wordQuery(
  text: string,
  keys: Readonly<Record<string, WordKey>>,
): { readonly query: WordQuery } | { readonly error: string } {
  const query: Record<string, string> = {};
  for (const { key, value } of filterWords(text)) {
    const known = Object.keys(keys);
    if (key === undefined)
      return { error: `"${value}" has no filter name; write one before it, such as ${known[0]}:${value}` };
    const of = Object.hasOwn(keys, key) ? keys[key] : undefined;
    if (!of) return { error: `"${key}" is not a filter; write one of ${known.join(', ')}` };
    if (value === '') continue;
    const read = valueOf(key, of, value);
    if (typeof read !== 'string') return read;
    query[of.parameter] = read;
  }
  return { query };
}
