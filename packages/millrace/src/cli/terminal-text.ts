/**
 * Escapes control characters in untrusted text (tasks, tags, names, logs, errors). In a terminal they could move the cursor, hide text, set
 * the clipboard or change the text direction.
 */

// C0, DEL and C1; direction marks and overrides; line and paragraph separators.
const control = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f]/g;

const codePoint = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** `␛` for the escape character, `⏎` for a line feed; characters without a symbol by number, such as `\u202e`. */
function picture(char: string): string {
  if (char === '\n') return '⏎';
  const code = char.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? '␡' : codePoint(char);
}

/** A table cell, in which everything is escaped. */
export const escapeCell = (text: string): string => text.replace(control, picture);

/** One line; tabs are kept. */
export const escapeLine = (text: string): string =>
  text.replace(control, (char) => (char === '\t' ? char : picture(char)));

/** Text with several lines. CRLF is a line end; other carriage returns are escaped. */
export const escapeText = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .replace(control, (char) => (char === '\t' || char === '\n' ? char : picture(char)));

/** JSON in one line, with control characters escaped. The parsed value is the same. */
export const jsonLine = (value: unknown): string => `${JSON.stringify(value).replace(control, codePoint)}\n`;

/** Escapes existing lines of JSON in the same way. */
export const jsonLines = (text: string): string =>
  text.replace(control, (char) => (char === '\n' ? char : codePoint(char)));
