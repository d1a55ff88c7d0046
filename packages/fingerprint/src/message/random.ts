import { isAscii } from './digits.ts';

// Pairs of letters that words and identifiers rarely contain: the first letter, then every letter that does not follow it.
const rare = new Set(
  (
    'aehjoq bdfghjkmnqvwxz cbdfgjmnpqvwxz dhjkmnqtwxz ez fbdghjkmnpqvwxz gbcdfjkpqvwxyz hbcdfghjkpqvwxz ihijquwy ' +
    'jbcdfghijklmnpqrtvwxyz kbfghjkmoqrvwxyz lghjnqrwxz mcdfghjknqrtvwxyz nqwx ohqz pbfjnqvwxz qabcdefghijkmnopqrstvwxyz ' +
    'rhjqxz sbgjrz tbjkqvxz uhjkquvwxyz vbcdfghjklmnpqrtuvwxyz wbcdfgjkmpqtuvwxyz xbdfghjklmnoqrsuvwxyz ybdfghjkqruvxyz ' +
    'zbcdfghjklmnpqrstuvwxyz'
  )
    .split(' ')
    .flatMap((group) => Array.from(group.slice(1), (second) => group.charAt(0) + second)),
);

/**
 * True for random letters: for about 19 of 20 random strings of ten letters, and for hardly any real word. Words with letters beyond ASCII
 * are never random: their languages have other pairs.
 */
export function isRandomWord(word: string): boolean {
  if (word.length < 7 || !isAscii(word)) return false;
  const letters = word.toLowerCase();
  const needed = Math.max(2, letters.length / 6);
  let found = 0;
  for (let at = 0; at + 1 < letters.length; at += 1) {
    if (rare.has(letters.slice(at, at + 2))) found += 1;
    if (found >= needed) return true;
  }
  return false;
}

/** True for a token that is an id: letters and digits mixed, four digits in a row, or letters that form no word. */
export function looksRandom(token: string): boolean {
  if (/\d{4}/.test(token)) return true;
  return token.split(/[_.-]/).some((part) => {
    if (part.length >= 5 && /\d[a-z]{1,40}\d|[a-z]\d{1,10}[a-z]/i.test(part)) return true;
    return part.split(/(?<=[a-z])(?=[A-Z])/).some(isRandomWord);
  });
}
