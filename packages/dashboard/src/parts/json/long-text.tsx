import { useState } from 'react';
import { visibleControls } from './visible-controls.ts';

/** Number of characters shown before the rest is collapsed. */
const folded = 300;
/** Number of characters that each press adds: no step may block the page. */
const piece = 20_000;

/** A text of any length: its beginning, and the rest in pieces. Control characters are made visible and have no effect. */
export function LongText({ text, isQuoted = false }: { readonly text: string; readonly isQuoted?: boolean }) {
  const [limit, setLimit] = useState(folded);
  const visible = text.slice(0, limit);
  const left = text.length - visible.length;
  return (
    <>
      {isQuoted ? '"' : ''}
      {visibleControls(visible)}
      {left > 0 && (
        <button
          type="button"
          className="fold"
          onClick={() => setLimit((before) => (before === folded ? piece : before + piece))}
        >
          … {left.toLocaleString('en')} more characters
        </button>
      )}
      {left <= 0 && isQuoted ? '"' : ''}
    </>
  );
}
