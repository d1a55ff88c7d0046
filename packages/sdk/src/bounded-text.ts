const loneSurrogate = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

/** Whether every store accepts the text: database columns cannot hold NUL, and UTF-8 cannot encode lone surrogates. */
export const isStorable = (text: string): boolean =>
  !text.includes('\0') && text.search(loneSurrogate) === -1;

/** The text with unstorable characters replaced by U+FFFD. */
export const storable = (text: string): string =>
  text.replaceAll('\0', '\uFFFD').replaceAll(loneSurrogate, '\uFFFD');

/** At most `max` characters, then a note of how many are missing. Unstorable characters are replaced by U+FFFD. */
export function boundedText(text: string, max: number): string {
  return storable(text.length > max ? `${text.slice(0, max)}… (${text.length - max} more characters)` : text);
}
