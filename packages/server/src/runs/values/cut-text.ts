/** Maximum length of the SDK's note about omitted text. The SDK truncates at the same lengths, and its note is stored too. */
export const noteCharacters = 64;

/** At most `limit` characters and a note of how many are missing. A text that the SDK truncated is unchanged. */
export const cutText = (text: string, limit: number): string =>
  text.length > limit + noteCharacters ? cutAt(text, limit) : text;

/** The first `limit` characters of a longer text, and the note. */
export const cutAt = (text: string, limit: number): string =>
  `${text.slice(0, limit)}… (${text.length - limit} more characters)`;
