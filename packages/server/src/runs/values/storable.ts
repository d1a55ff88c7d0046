/**
 * What PostgreSQL can hold of what a run said. Its texts have no NUL, and its jsonb no lone halves of a surrogate pair either; they
 * become U+FFFD. Clients of ours send neither, but a run must end whatever its runner sends.
 */
export const storableText = (text: string): string =>
  text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text;

/** JSON text of a value, for a jsonb column. */
export function storableJson(value: unknown): string {
  const text = JSON.stringify(value);
  // JSON.stringify writes NUL and lone surrogates, and nothing else of theirs, as such escapes.
  return text.includes('\\u') ? text.replace(/\\u(?:0000|d[89a-f][0-9a-f]{2})/g, '\\ufffd') : text;
}
