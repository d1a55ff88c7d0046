/** Text that is pure ASCII needs no processing of digits and words in other scripts. */
export const isAscii = (text: string): boolean => !/[^\x00-\x7f]/.test(text);

// Direction marks, which are invisible. Intl puts them around numbers in Arabic, Hebrew and Persian.
const directionMarks = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const spaces = /(?! )\p{Zs}/gu;
const otherDigits = /(?!\d)\p{Nd}/gu;
const minus = /[\u2212\ufe63\uff0d](?=[0-9\p{Sc}])/gu;

// Only between digits; elsewhere these are punctuation.
const fractions = /(?<=\d)[\u066b\u00b7\uff0e](?=\d)/g;
const groups = /(?<=\d)[\u060c\u066c\u2e41\uff0c'\u02bc\u2019\uff07](?=\d{3}(?!\d))/g;
const spacedGroups = /(?<=\d)[\u00a0\u2007\u2009\u202f](?=\d{3}(?!\d))/g;

/**
 * Converts numbers as written in any language to ASCII: digits of every script, and the separators, spaces and minus signs of
 * `Intl.NumberFormat`. `١٬٢٣٤٫٥`, `1 234,5` with a narrow space, and `1’234.5` become numbers that the other rules know.
 */
export function withPlainNumbers(text: string): string {
  if (isAscii(text)) return text.includes("'") ? text.replace(groups, ',') : text;
  return text
    .normalize('NFC')
    .replace(directionMarks, '')
    .replace(otherDigits, digitOf)
    .replace(spacedGroups, ',')
    .replace(groups, ',')
    .replace(fractions, '.')
    .replace(minus, '-')
    .replace(/(?<=\d ?)[\u066a\uff05\ufe6a]/g, '%')
    .replace(spaces, ' ');
}

const isDigit = /^\p{Nd}$/u;

/** Unicode has the ten digits of a script in a row. Mathematical digits are five such rows without a gap. */
function digitOf(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  let before = 0;
  while (isDigit.test(String.fromCodePoint(code - before - 1))) before += 1;
  return String(before % 10);
}
