import { useState } from 'react';

/** Characters that are shown before the rest is folded away. */
const folded = 300;
/** Characters that each press shows more: no step may hold up the page. */
const piece = 20_000;

/** A text of any length: its beginning, and the rest in pieces. Control characters are shown as such, and none has an effect. */
export function LongText({ text, isQuoted = false }: { readonly text: string; readonly isQuoted?: boolean }) {
  const [shown, setShown] = useState(folded);
  const visible = text.slice(0, shown);
  const left = text.length - visible.length;
  return (
    <>
      {isQuoted ? '"' : ''}
      {visibleControls(visible)}
      {left > 0 && (
        <button
          type="button"
          className="fold"
          onClick={() => setShown((before) => (before === folded ? piece : before + piece))}
        >
          … {left.toLocaleString('en')} more characters
        </button>
      )}
      {left <= 0 && isQuoted ? '"' : ''}
    </>
  );
}

/**
 * Control characters as the pictures that Unicode has for them, line ends and tabs excepted; marks that turn the direction of text as their number.
 *
 * @example visibleControls('a\u001b[31m') // 'a␛[31m'
 */
export const visibleControls = (text: string): string =>
  text
    .replaceAll(/[\u0000-\u0008\u000b-\u001f]/g, (one) => String.fromCharCode(0x2400 + one.charCodeAt(0)))
    .replaceAll('\u007f', '\u2421')
    .replaceAll(
      /[\u202a-\u202e\u2066-\u2069\u200e\u200f]/g,
      (one) => `⟨U+${one.charCodeAt(0).toString(16).toUpperCase()}⟩`,
    );
