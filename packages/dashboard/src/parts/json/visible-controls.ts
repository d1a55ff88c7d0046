/**
 * Control characters as Unicode control pictures, except line ends and tabs; direction marks as their number.
 *
 * @example visibleControls('a\u001b[31m') // 'a␛[31m'
 */
export const visibleControls = (text: string): string =>
  text
    .replaceAll(/[\u0000-\u0008\u000b-\u001f]/g, (character) =>
      String.fromCharCode(0x2400 + character.charCodeAt(0)),
    )
    .replaceAll('\u007f', '\u2421')
    .replaceAll(
      /[\u202a-\u202e\u2066-\u2069\u200e\u200f]/g,
      (character) => `⟨U+${character.charCodeAt(0).toString(16).toUpperCase()}⟩`,
    );
