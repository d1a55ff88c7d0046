import { bounds, storable } from '../bounds.ts';
import { isAscii, withPlainNumbers } from './digits.ts';
import { summariseJson } from './json.ts';
import { quotes } from './quotes.ts';
import { includes, replacing, reveal, unguarded } from './rule.ts';
import type { Rule } from './rule.ts';
import { shapes } from './shapes.ts';
import { forms, identifiers, protectedNumbers } from './tokens.ts';
import { isErrorWord, withoutBareData } from './vocabulary.ts';

const titles = '(?:(?:Dr|Mr|Mrs|Ms|Mx|Prof|Sir)\\.? )';
// Not the first half of a name from code: "to RegExp", "in Effect.run".
const names =
  "\\p{Lu}[\\p{Ll}']{1,30}(?![.#]?[\\p{L}_])(?:[ -](?:van |de |da |von |el |al-)?(?:\\p{Lu}[\\p{L}']{1,30})){0,3}";
const nouns =
  'plan tier user customer client member employee driver patient guest contact recipient sender owner assignee student city country region company vendor supplier tenant merchant store named called';
const before = `for|of|to|from|by|with|near|at|in|${nouns
  .split(' ')
  .map((noun) => `[${noun.charAt(0).toUpperCase()}${noun.charAt(0)}]${noun.slice(1)}`)
  .join('|')}`;
const product =
  /^(?:Redis|Kafka|Stripe|Postgres\w*|My[Ss][Qq][Ll]|Mongo\w*|Slack|Git[Hh]ub|Git[Ll]ab|Google|Amazon|Azure|Node|Prisma|Paypal|PayPal|Adyen|Klarna|Twilio|Sendgrid|SendGrid|Mailgun|Shopify|Hubspot|HubSpot|Salesforce|Open[Aa]I|Anthropic|Docker|Kubernetes|Elastic\w*|Rabbit\w*|Sentry|Datadog|Object|Array|String|Number|Boolean|Buffer|Promise|Date|Error|Symbol|Function|Map|Set|Uint\w*|Infinity|Undefined|Null|Unix|Linux|Windows|Chrome|Firefox|Monday|Not|Bad|Too|Internal|Service|Forbidden|Access|Received)\b/;

function distinctLines(text: string): string {
  const lines = new Set<string>();
  for (const line of text.split('\n', 40)) {
    const plain = line.trim().replace(/^(?:[-*•]|<n>[.):])\s{1,4}/, '');
    if (plain !== '') lines.add(plain);
  }
  return [...lines].join(' ');
}

/** The rules that normalize a message, in order. Later rules rely on earlier ones having removed their part. */
export const rules: readonly Rule[] = [
  replacing('terminal colours', /\u001b\[[\d;]{0,20}[A-Za-z]/g, '', includes('\u001b')),
  replacing(
    'stack in message',
    /\n {2,8}at [^\n]{1,300}:\d{1,7}:\d{1,7}\)?[^]*$/,
    '',
    includes('\n    at ', '\n  at '),
  ),
  { name: 'JSON', gate: includes('{', '['), apply: summariseJson },
  ...shapes,
  ...forms,
  ...protectedNumbers,
  ...quotes,
  ...identifiers,
  replacing(
    'person or place',
    new RegExp(`(?:(?<=\\b(?:${before}) )${titles}?|\\b${titles})${names}`, 'gu'),
    (found = '') => (product.test(found) ? found : '<name>'),
  ),
  replacing(
    'full name',
    /(?<![\p{L}\d.])\p{Lu}[\p{L}'’]{1,30}(?: (?:van |de |da |von |el |al-)?\p{Lu}[\p{L}'’]{1,30}){1,4}/gu,
    withoutFullName,
    (text) => /[^\s\d.:)(\x00-\x40] [A-Z\u00c0-\u024f]/.test(text),
  ),
  replacing(
    'further people',
    new RegExp(`(?<=<name>(?:, | and |, and | & | or ))${names}`, 'gu'),
    '<name>',
    includes('<name>'),
  ),
  replacing('plural', /<n> (\p{Ll}{3,30}(?!s)\p{Ll})s\b/gu, '<n> $1', includes('<n> ')),
  replacing(
    'agreement',
    /(<n> [a-z]{2,30}(?: [a-z]{2,20})?) (?:are|were|have|do) /g,
    (_all = '', head = '') => `${head} is `,
    includes('<n> '),
  ),
  replacing(
    'agreement',
    /(<n> [a-z]{2,30}(?: [a-z]{2,20})?) (?:was|has|does) /g,
    (_all = '', head = '') => `${head} is `,
    includes('<n> '),
  ),
  replacing(
    'list',
    /((?:[a-z]{2,20}_)?<(?:n|id|text|value|email|path|host|url|date|name)>)(?:(?:[,،，、] ?| |[;；] ?| and | or |, and |\/|-|:| - )\1){1,200}/g,
    '$1',
    (text) => text.indexOf('>') !== text.lastIndexOf('>'),
  ),
  { name: 'repeated lines', gate: includes('\n'), apply: distinctLines },
  replacing('white space', /\s{2,200}|[\n\t\r]/g, ' ', (text) => /\s\s|[\n\t\r]/.test(text)),
];

/**
 * Two or more capitalized words that are not in the vocabulary of errors are treated as a person or a place. The words before them are
 * kept.
 */
function withoutFullName(found = ''): string {
  const parts = found.split(' ');
  let first = 0;
  while (first < parts.length && isWritten(parts[first])) first += 1;
  const rest = parts.slice(first);
  if (rest.length < 2 || rest.some(isWritten) || product.test(rest.join(' '))) return found;
  return [...parts.slice(0, first), '<name>'].join(' ');
}

/** "New" before capitalized words usually begins a place name. */
const isWritten = (word = ''): boolean => word !== 'New' && isErrorWord(word);

/**
 * The message without the parts that vary between occurrences of a bug. The names of the rules that changed it are added to `applied`.
 */
export function normaliseMessage(message: string, applied?: string[]): string {
  let text = withPlainNumbers(unguarded(storable(message.slice(0, bounds.message))).replaceAll('\r\n', '\n'));
  const ascii = isAscii(text);
  for (const rule of rules) {
    if (rule.gate !== undefined && !rule.gate(text)) continue;
    const next = rule.apply(text, ascii);
    if (applied !== undefined && next !== text) applied.push(rule.name);
    text = next;
  }
  return reveal(text).trim();
}

/**
 * The form of the message used for comparison. All kinds of placeholders become the same one, because the same position may contain a
 * number today and a word tomorrow.
 */
export function comparable(normalised: string): string {
  const text = withoutBareData(normalised);
  if (!text.includes('<')) return text;
  return (text.includes('_<') ? text.replace(/\b(?:[a-z]{1,20}_){1,12}(?=<(?:id|hex|n)>)/gi, '') : text)
    .replace(
      /<(?:n|id|text|value|name|hex|hash|email|host|url|path|date|time|phone|token|version|region|currency)>(?:s\b)?/g,
      '<>',
    )
    .replace(/(<>)(?:[ ,;:/-]{1,3}<>){1,50}/g, '$1');
}
