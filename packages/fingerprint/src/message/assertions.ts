import { includes, protect, replacing } from './rule.ts';
import type { Rule } from './rule.ts';
import { isErrorWord } from './vocabulary.ts';

const compared = /^Expected values to be (?:strictly |loosely )?equal$/;
const expectedSide = /^[^\n]{1,200} [!=]==? ([^\n]{1,80})$|^- ([^\n]{1,80})$/m;

/**
 * The diff of an assertion is data, except for the expected value: `assert.equal(status, 'paid')` differs from `assert.equal(count, 2)`.
 * Words in the vocabulary are kept; other values are replaced by their kind.
 */
function withoutDiff(heading: string, diff: string): string {
  if (!compared.test(heading)) return heading;
  const side = expectedSide.exec(diff.slice(0, 600));
  const expected = (side?.[1] ?? side?.[2] ?? '').trim();
  if (/^(?:true|false|null|undefined|NaN)$/.test(expected)) return `${heading}: ${expected}`;
  if (/^-?\d/.test(expected)) return `${heading}: a number`;
  if (!/^['"`]/.test(expected)) return heading;
  const words = expected.slice(1, -1).split(/[ _-]/);
  return words.every((word) => isErrorWord(word))
    ? `${heading}: ${protect(expected)}`
    : `${heading}: a string`;
}

const property = /(?<!\bassert|\bstrict|\bdefault)\.(?!ok\b|default\b|equal\b)([A-Za-z_]\w{2,60})/g;

/**
 * Node shows the source of `assert(order.paid)` if it can read it. Bundlers rename the part before the first dot, and a minified line
 * contains the next assertions too.
 */
function falsy(source: string): string {
  const called = source.trimStart().replace(/^\(0, ?[\w$.]{1,80}\)/, '');
  const first = called.split(/[\n,;]/, 1)[0] ?? '';
  const names = Array.from(first.matchAll(property), ([, name = '']) => name);
  return `The expression evaluated to a falsy value${names.length === 0 ? '' : protect(`: ${names.join('.')}`)}`;
}

export const assertions: Rule[] = [
  replacing(
    'falsy assertion',
    /^The expression evaluated to a falsy value:\n\n([^]{0,400})[^]*$/,
    (_all = '', source = '') => falsy(source),
    includes('falsy value:'),
  ),
  // If Node cannot read the source of the assertion, as in some bundles, it shows the value instead.
  replacing(
    'assertion without its source',
    /^[^\n]{1,200} == true$/,
    'The expression evaluated to a falsy value',
    includes(' == true'),
  ),
  replacing(
    'assertion diff',
    /^((?:Expected (?:values|inputs|"actual")|Values have|Input (?:A|objects)|The input |Missing expected|Got unwanted)[^\n]{0,200}?:?)\n([^]*)$/,
    (_all = '', heading = '', diff = '') => withoutDiff(heading.replace(/:$/, ''), diff),
    includes('\n'),
  ),
  replacing(
    'assertion diff',
    /\n\s{0,4}\+ (?:actual|expected)\b[^]*$|\n\n(?:- Expected|\+ Received|Expected:|Received:)[^]*$/,
    '',
    includes('\n'),
  ),
];
