/**
 * Letters, marks and digits of the scripts that put spaces between words, as the content of a character class: Latin to Cyrillic, Armenian,
 * Hebrew, Arabic and Syriac, the scripts of India, Ethiopic, and the rest of Latin and Greek, without punctuation. In other scripts, such
 * as Chinese and Thai, letters directly follow a number or the name of a file. Ranges, because properties such as `\p{L}` make patterns
 * large and slow to compile.
 */
export const letters =
  'A-Za-z0-9\\u00aa\\u00b5\\u00ba\\u00c0-\\u00d6\\u00d8-\\u00f6\\u00f8-\\u037d\\u037f-\\u0386\\u0388-\\u0559\\u0560-\\u0588\\u0591-\\u05bd' +
  '\\u05bf\\u05c1\\u05c2\\u05c4\\u05c5\\u05c7-\\u05f2\\u0610-\\u061a\\u0620-\\u0669\\u066e-\\u06d3\\u06d5-\\u06ff\\u0710-\\u07f5\\u0800-\\u082d' +
  '\\u0840-\\u085b\\u0860-\\u0963\\u0966-\\u096f\\u0971-\\u0df3\\u1200-\\u135f\\u1380-\\u1399\\u1e00-\\u1fff';
const word = `${letters}_`;
const boundary = `(?:(?<=[${word}])(?![${word}])|(?<![${word}])(?=[${word}]))`;

/**
 * The pattern with words in any script instead of ASCII words. In JavaScript, `\w` and `\b` cover only ASCII, even with the flag `u`: they
 * see the end of a word before the last letter of "refusé".
 */
export function withAllWords(pattern: RegExp): RegExp {
  let inClass = false;
  const source = pattern.source.replace(/\\[^]|[[\]]/g, (part) => {
    if (part === '[') inClass = true;
    else if (part === ']') inClass = false;
    else if (part === '\\w') return inClass ? word : `[${word}]`;
    else if (part === '\\W' && !inClass) return `[^${word}]`;
    else if (part === '\\b' && !inClass) return boundary;
    return part;
  });
  return new RegExp(source, pattern.flags);
}
