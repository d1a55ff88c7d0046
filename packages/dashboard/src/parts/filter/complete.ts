import { filterWords, quotedValue } from '@millrace/contract/filter';

export interface FilterKey {
  readonly key: string;
  /** A short description. */
  readonly about: string;
  /** Values that contain `typed`. They may come from the API. */
  readonly values?: (typed: string) => readonly string[] | Promise<readonly string[]>;
}

export interface Completion {
  /** The whole filter after the choice. */
  readonly text: string;
  /** The cursor position after the choice. */
  readonly cursor: number;
  readonly label: string;
  readonly hint?: string;
}

const maxShown = 12;

/** The word at the cursor, and its typed part. */
function wordAt(
  text: string,
  cursor: number,
): { readonly from: number; readonly to: number; readonly typed: string } {
  const found = filterWords(text).find(({ from, to }) => from < cursor && cursor <= to);
  return found
    ? { from: found.from, to: found.to, typed: text.slice(found.from, cursor) }
    : { from: cursor, to: cursor, typed: '' };
}

const replaced = (
  text: string,
  from: number,
  to: number,
  by: string,
): Pick<Completion, 'text' | 'cursor'> => ({
  text: text.slice(0, from) + by + text.slice(to),
  cursor: from + by.length,
});

/**
 * Completions of the word at the cursor: keys, or values of its key. After a comma, one more value.
 *
 * @example
 * await completions('status:fa', 9, keys); // [{ text: 'status:failed ', label: 'failed', … }]
 */
export async function completions(
  text: string,
  cursor: number,
  keys: readonly FilterKey[],
): Promise<readonly Completion[]> {
  const { from, to, typed } = wordAt(text, cursor);
  const colon = typed.indexOf(':');
  if (colon === -1) {
    const start = typed.toLowerCase();
    return keys
      .filter(({ key }) => key.startsWith(start))
      .map(({ key, about }) => ({ ...replaced(text, from, to, `${key}:`), label: `${key}:`, hint: about }));
  }
  const key = keys.find((candidate) => candidate.key === typed.slice(0, colon).toLowerCase());
  if (!key?.values) return [];
  const valueText = typed.slice(colon + 1);
  const comma = valueText.lastIndexOf(',');
  const before = comma === -1 ? '' : valueText.slice(0, comma + 1);
  const part = valueText
    .slice(comma + 1)
    .replace(/^"/, '')
    .toLowerCase();
  const chosen = new Set(before.split(','));
  const found = (await key.values(part)).filter(
    (value) => value.toLowerCase().includes(part) && !chosen.has(value),
  );
  const ranked = found.toSorted(
    (a, b) => Number(b.toLowerCase().startsWith(part)) - Number(a.toLowerCase().startsWith(part)),
  );
  return ranked.slice(0, maxShown).map((value) => {
    const word = `${key.key}:${before}${quotedValue(value)}`;
    const isLast = text.slice(to).trim() === '';
    return { ...replaced(text, from, to, isLast ? `${word} ` : word), label: value };
  });
}
