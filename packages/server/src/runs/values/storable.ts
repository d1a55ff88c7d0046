/**
 * Converts a runner's text to one that PostgreSQL can store. PostgreSQL's texts cannot contain NUL, and its jsonb cannot contain lone
 * surrogates either; they become U+FFFD. Millrace clients send neither, but a run must end on any input from its runner.
 */
export const storableText = (text: string): string =>
  text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text;

/** JSON text of a value, for a jsonb column. */
export function storableJson(value: unknown): string {
  const text = JSON.stringify(value);
  // JSON.stringify writes NUL and lone surrogates, and no other characters, as such escapes.
  return text.includes('\\u') ? text.replace(/\\u(?:0000|d[89a-f][0-9a-f]{2})/g, '\\ufffd') : text;
}
