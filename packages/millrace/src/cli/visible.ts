/**
 * What others wrote (tasks, tags, names, logs, errors) may hold characters that a terminal obeys instead of showing: they move the
 * cursor, hide text, set the clipboard, or turn the direction of reading. Here they become characters that can be seen.
 */

// C0, DEL and C1; marks and overrides of direction; separators of lines and paragraphs.
const obeyed = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f]/g;

const codePoint = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** `␛` for the escape character, `⏎` for the end of a line; what has no picture by its number, such as `\u202e`. */
function picture(char: string): string {
  if (char === '\n') return '⏎';
  const code = char.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? '␡' : codePoint(char);
}

/** A cell of a table: nothing in it moves what comes after it. */
export const visibleCell = (text: string): string => text.replace(obeyed, picture);

/** One line; tabs stay. */
export const visibleLine = (text: string): string =>
  text.replace(obeyed, (char) => (char === '\t' ? char : picture(char)));

/** Text of several lines. A carriage return counts as part of a line's end, and is shown anywhere else. */
export const visibleText = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .replace(obeyed, (char) => (char === '\t' || char === '\n' ? char : picture(char)));

/** JSON as one line that a terminal shows as it is. Programs read the same value. */
export const jsonLine = (value: unknown): string => `${JSON.stringify(value).replace(obeyed, codePoint)}\n`;

/** Lines of JSON that others have written, for a terminal in the same way. */
export const jsonLines = (text: string): string =>
  text.replace(obeyed, (char) => (char === '\n' ? char : codePoint(char)));
