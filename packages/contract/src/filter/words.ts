/** One `key:value` of a text filter. */
export interface FilterWord {
  /** In lower case; undefined for a word without a colon. */
  readonly key: string | undefined;
  /** Without its quotes. */
  readonly value: string;
  /** Its position in the text. */
  readonly from: number;
  readonly to: number;
}

const word = /(?:"(?:[^"\\]|\\.)*"?|[^\s"])+/g;
const keyed = /^([A-Za-z][\w.$-]*):([\s\S]*)$/;

const unquoted = (text: string): string =>
  text.replaceAll(/"((?:[^"\\]|\\.)*)"?/g, (_, inner: string) => inner.replaceAll(/\\(.)/g, '$1'));

/**
 * The words of a filter: `key:value`, separated by spaces. Quotes keep spaces together. It never fails: an incomplete word (while typing)
 * is also a word.
 *
 * @example
 * filterWords('status:failed error:"connection reset"'); // [{ key: 'status', value: 'failed', … }, { key: 'error', value: 'connection reset', … }]
 */
export const filterWords = (text: string): readonly FilterWord[] =>
  [...text.matchAll(word)].map(({ 0: whole, index: from }) => {
    const [, key, value = ''] = keyed.exec(whole) ?? [];
    return {
      key: key?.includes('.') ? key : key?.toLowerCase(),
      value: unquoted(key === undefined ? whole : value),
      from,
      to: from + whole.length,
    };
  });

/** `value` as written in a word: in quotes if it contains spaces. */
export const quotedValue = (value: string): string =>
  /^[^\s"]+$/.test(value) ? value : `"${value.replaceAll(/["\\]/g, '\\$&')}"`;

/**
 * The filter with another value for a key, or without the key if the value is undefined.
 *
 * @example
 * withFilterWord('status:failed since:2h', 'since', '1d'); // 'status:failed since:1d'
 */
export function withFilterWord(text: string, key: string, value: string | undefined): string {
  const rest = filterWords(text).filter((each) => each.key !== key);
  const words = rest.map(({ from, to }) => text.slice(from, to));
  return [...words, ...(value === undefined ? [] : [`${key}:${quotedValue(value)}`])].join(' ');
}
