/**
 * Rule patterns: text in which `*` matches anything, including nothing and line breaks. `\*` and `\\` are the characters themselves. Matching
 * is case-sensitive. A pattern applies to a whole text: `timeout*` matches texts that begin with `timeout`.
 *
 * Matching searches for each piece once, from left to right. In the worst case, the time is proportional to the product of the text and
 * pattern lengths, both of which are bounded.
 */
export function piecesOf(pattern: string): readonly string[] {
  const pieces = [''];
  for (let at = 0; at < pattern.length; at++) {
    const letter = pattern.charAt(at);
    const next = pattern.charAt(at + 1);
    if (letter === '*') pieces.push('');
    else if (letter === '\\' && (next === '*' || next === '\\')) {
      pieces[pieces.length - 1] += next;
      at++;
    } else pieces[pieces.length - 1] += letter;
  }
  return pieces;
}

export function matches(pieces: readonly string[], text: string): boolean {
  const [first = ''] = pieces;
  const last = pieces.at(-1) ?? '';
  if (pieces.length === 1) return text === first;
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length)
    return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, at);
    if (found < 0 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}
