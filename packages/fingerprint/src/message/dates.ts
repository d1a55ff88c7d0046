import { hasDigit, includes, replacing } from './rule.ts';
import type { Rule } from './rule.ts';
import { isErrorWord } from './vocabulary.ts';

const month =
  '(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)';
// Morning or afternoon, which precedes the time in Japanese, Korean and Chinese.
const half = '(?: ?(?:[ap]m\\b|[πμ]\\.μ\\.|[صم](?!\\p{L})))?';
const halfAhead = '(?:(?:오전|오후|午前|午後|上午|下午) ?)?';
const time = `${halfAhead}\\d{1,2}:\\d{2}(?::\\d{2}(?:[.,]\\d{1,9})?)?${half}`;
const clock = `(?:[T ,،]{1,2}${time}(?: ?(?:Z|UTC|GMT|[+-]\\d{2}:?\\d{2}))*(?: \\([\\w ]{1,40}\\))?)?`;

// In other languages: a day, one word and a year ("12. mars 2024", "3 de abril de 2024"), in Hungarian in reverse order. In East Asian
// languages each part has a unit. Persian and Thai years begin with 14 and 25.
const otherDate =
  '(?:[12]?\\d|3[01])\\.? (?:de )?[\\p{L}\\p{M}][\\p{L}\\p{M}.\u05f3\u0970]{2,15},? (?:de )?(?:1[34]|19|20|25)\\d{2}|(?:19|20)\\d{2}\\. \\p{L}{3,10}\\.? \\d{1,2}\\.?|\\d{4} ?[年년] ?\\d{1,2} ?[月월](?: ?\\d{1,2} ?[日일])?';

/** Dates and times of day, in the formats of many languages. */
export const dates: Rule[] = [
  replacing(
    'date',
    new RegExp(
      `(?<![\\w-])(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6},? )?(?:${otherDate}|(?:19|20)\\d{2}-\\d{1,2}(?:-\\d{1,2})?|(?:19|20)\\d{2}[/.]\\d{1,2}[/.]\\d{1,2}|\\d{1,2}[-/.]\\d{1,2}[-/.]\\d{2,4}|\\d{1,2}(?:st|nd|rd|th)?[ -]${month}[ ,-]{1,2}\\d{4}|\\d{1,2}(?:st|nd|rd|th)? (?!may)${month}|${month}\\.? \\d{1,2}(?:st|nd|rd|th)?(?:,? \\d{4})?|${month} \\d{4})${clock}(?!\\w)`,
      'giu',
    ),
    (found = '') => (isNoDate(found) ? found : '<date>'),
    hasDigit,
  ),
  replacing('time', new RegExp(`(?<!\\w)${time}(?![:\\w])`, 'giu'), '<time>', includes(':')),
];

const dayWordYear = /^\d{1,2} (\p{L}+) \d{4}$/u;
const isMonth = new RegExp(`^${month}$`, 'i');

/** Three short numbers separated by dots, which may be a version, and counts such as "12 had 2024". */
function isNoDate(found: string): boolean {
  const word = dayWordYear.exec(found)?.[1] ?? '';
  return /^\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(found) || (isErrorWord(word) && !isMonth.test(word));
}
