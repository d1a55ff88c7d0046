import { hasDigit, includes, protect, replacing } from './rule.ts';
import { dates } from './dates.ts';
import { endpoints } from './endpoints.ts';
import { extensions, fileOfRows } from './files.ts';
import { isRandomWord } from './random.ts';
import type { Rule } from './rule.ts';
import { letters, withAllWords } from './words.ts';

const currency =
  '(?:USD|EUR|GBP|JPY|PLN|SEK|NOK|DKK|CHF|CAD|AUD|NZD|CNY|INR|BRL|MXN|CZK|HUF|ZAR|SGD|HKD|KRW|THB|IDR|MYR|PHP|ILS|AED|SAR|RUB|UAH|RON|BGN|BTC|ETH|USDT)';

// Thousands and above, as in the compact notation of `Intl.NumberFormat`.
const scale =
  '(?:k|bn|b|m|t|tn|mn|mil\\.?|mill\\.?|milj\\.?|tsd\\.?|mio\\.?|mrd\\.?|mld|mln|md|tys\\.?|tis\\.?|тыс\\.?|млн|млрд|тис\\.?|[万萬億亿兆천만억])';
// US$, R$ and currencies written in letters.
const sign = `(?:[A-Z]{0,3}\\p{Sc}(?:[A-Z]{2}(?!\\p{L}))?|\\b${currency}\\b|(?<!\\p{L})(?:kr|zł|Kč|Ft|lei|лв|грн|руб|RM|Rp|Rs)(?!\\p{L})\\.?|\\p{sc=Arabic}\\.\\p{sc=Arabic}\\.)`;
const money = new RegExp(
  `\\((?:${sign} ?\\d[\\d.,_]{2,30}|\\d[\\d.,_]{2,30} ?${sign})\\)|[+-]?${sign} ?-?\\d[\\d.,_ ]{0,30}(?<![., ])(?: ?${scale}(?!\\p{L}))?|(?<![\\w.]|\\d,)[+-]?\\d[\\d.,_]{0,30}(?<![.,])(?: ?${scale})? ?${sign}`,
  'gu',
);

const hasCapitals = (text: string): boolean => /[A-Z]{2}/.test(text);

/** Values that can be recognized by their form in any message. */
export const forms: Rule[] = [
  replacing('data URI', /\bdata:[\w/+.-]{1,60};base64,[\w+/=]{0,2048}/g, '<data>', includes('data:')),
  fileOfRows,
  ...endpoints,
  replacing('ARN', /\barn:[\w-]{1,20}:[^\s"'`,;]{1,300}/g, '<arn>', includes('arn:')),
  replacing(
    'e-mail',
    /(?<![\w.+-])[\w.+%'-]{1,64}@[a-z0-9][a-z0-9-]{0,62}(?:\.[a-z0-9-]{1,62}){1,6}/gi,
    '<email>',
    includes('@'),
  ),
  replacing('JWT', /\beyJ[\w-]{5,1500}\.[\w-]{1,1500}(?:\.[\w-]{0,600})?/g, '<token>', includes('eyJ')),
  replacing('bearer', /\b(Bearer|Basic) [\w.~+/=-]{8,1500}/g, '$1 <token>', includes('Bearer ', 'Basic ')),
  replacing(
    'masked secret',
    /[\w-]{0,60}\*{3,60}[\w-]{0,60}|\b\+?\d{3,10}X{3,12}\b/g,
    '<token>',
    includes('***', 'XXX'),
  ),
  replacing('markup', /<(?:!doctype|html|\?xml|head|body)\b[^]{0,2048}/i, '<markup>', includes('<')),
  replacing(
    'tag',
    /<\/?[a-z][\w-]{0,30}(?: [^<>\n]{0,200})?>/gi,
    (tag = '') =>
      /^<(?:url|arn|email|token|data|markup|path|value|sql|json|n|id|value)>$/.test(tag) ? tag : '<tag>',
    includes('<'),
  ),
  replacing('regular expression literal', /\/\^[^\n]{1,300}\$\/[a-z]{0,6}/g, '<pattern>', includes('/^')),
  replacing('Windows path', /\b[a-z]:\\[^\s"'`<>|*?:,;]{1,400}/gi, '<path>', includes(':\\')),
  replacing(
    'path',
    /(?<![\w<)\]}.])(?:file:\/{1,3}|~|\.{1,2})?\/[\w@.$%+=~{}:*-]{1,120}(?:\/[\w@.$%+=~{}:*()[\]-]{0,120}){0,30}\/?(?:\?[^\s"'`)]{0,300})?/g,
    '<path>',
    includes('/'),
  ),
  replacing(
    'file',
    /(?<![\w<./-])(?:[\w@.-]{1,80}\/){1,20}[\w@-]{1,120}(?:\.[\w]{1,10}){1,3}(?![\w/])/g,
    '<path>',
    includes('/'),
  ),
  replacing(
    'relative path',
    /(?<![\w<./-])(?:[\w@.-]{1,80}\/){2,20}[\w@.-]{0,120}/g,
    '<path>',
    includes('/'),
  ),
  replacing(
    'file name',
    new RegExp(`(?<![\\w./<-])[\\w@()-][\\w@().-]{0,100}\\.(?:${extensions})\\b(?![\\w(])`, 'gi'),
    '<path>',
    includes('.'),
  ),
  replacing(
    'key=value',
    /\b(?!(?:[\w]{1,20}\.)?(?:code|status|statusCode|type|reason|signal|method|errno|syscall|kind|exit|state|format)=)([a-z_][\w.-]{0,40})=(?:"[^"\n]{0,300}"|'[^'\n]{0,300}'|[^\s,;&)\]}"']{1,300})/gi,
    '$1=<value>',
    includes('='),
  ),
  replacing('MAC address', /\b(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}\b/gi, '<host>', hasDigit),
  replacing(
    'uuid',
    /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi,
    '<id>',
    includes('-'),
  ),
  ...dates,
  replacing(
    'duration',
    /\bP(?:\d{1,5}[YMWD]){0,4}T?(?:\d{1,5}(?:\.\d{1,6})?[HMS]){1,3}\b/g,
    '<n>',
    includes('P'),
  ),
  replacing('locale', /\b[a-z]{2}[-_][A-Z]{2}\b/g, '<region>', hasCapitals),
  replacing(
    'country',
    /(?<=\b(?:in|for|to|from|country|region|market) )(?!(?:DB|CI|CD|QA|IO|UI|OS|IP|ID|JS|TS|AI|ML|VM|PR|OK|S3|UX|PM|AM|NO|IF|OR|IN|ON)\b)[A-Z]{2}(?![\w-])/g,
    '<region>',
    hasCapitals,
  ),
  replacing(
    'IPv6',
    /(?<![\w:])\[?(?:[0-9a-f]{0,4}:){2,8}(?:[0-9a-f]{1,4}|\d{1,3}(?:\.\d{1,3}){3})?(?:%\w{1,20})?\]?(?::\d{1,5})?(?![\w:])/gi,
    (found = '') => (/[0-9a-f]/i.test(found) ? '<host>' : found),
    (text) => text.indexOf(':') !== text.lastIndexOf(':'),
  ),
  replacing(
    'IP',
    /\b\d{1,3}(?:\.\d{1,3}){3}(?:\/\d{1,2})?(?::\d{1,5})?\b/g,
    (found = '') => (/^\d{1,3}\.\d{3}\.\d{3}\.(?:[3-9]|2[6-9])\d\d$/.test(found) ? found : '<host>'),
    includes('.'),
  ),
  replacing(
    'host and port',
    /\b(?:[a-z0-9_](?:[\w-]{0,62})\.){0,8}[a-z0-9][\w-]{0,62}:\d{2,5}\b(?!:)/gi,
    (found = '') =>
      /^(?:code|status|exit|error|errno|http|line|column|position)\b/i.test(found) ? found : '<host>',
    (text) => /:\d\d/.test(text),
  ),
  replacing(
    'host',
    /\b(?:[a-z0-9][a-z0-9-]{0,62}\.){1,8}(?:com|net|org|io|dev|local|internal|example|test|invalid|cloud|app|co|eu|de|uk|us|fr|lan|svc|cluster|localhost|localdomain|ai|edu|gov|info|amazonaws|consul)(?:\.[a-z]{2,10}){0,3}\b(?!\.?\w|\()/gi,
    '<host>',
    includes('.'),
  ),
  replacing(
    'cloud region',
    /\b(?:[a-z]{2}|us-gov|africa|asia|europe|northamerica|southamerica|australia|me)-[a-z]{4,12}-?\d[a-z]?(?![\w-])/g,
    '<region>',
    hasDigit,
  ),
  replacing(
    'voucher',
    /(?<=\b(?:[Cc]oupon|[Vv]oucher|(?:promo|discount) code|[Ss]ymbol|[Tt]icker) )[A-Z][A-Z0-9]{2,30}\b/g,
    '<id>',
    (text) => /oupon|oucher|code|ymbol|icker/.test(text),
  ),
  // Groups of three digits are parts of one number: 1.234.567.
  replacing(
    'version',
    /\b(?!\d{1,3}\.\d{3}\.\d{3}(?!\d))v?\d{1,5}\.\d{1,5}\.\d{1,5}(?:[-+.][\w.]{1,40})?\b/g,
    '<version>',
    includes('.'),
  ),
  replacing('currency', money, '<n>', hasDigit),
  replacing('currency code', new RegExp(`\\b${currency}(?:[/-]${currency})?\\b`, 'g'), '<currency>', (text) =>
    /[A-Z]{3}/.test(text),
  ),
  replacing(
    'phone',
    /(?<![\w<])\+\d{1,3}[ -]?\(?\d{1,4}\)?(?:[ -]?\d{2,5}){1,5}\b/g,
    '<phone>',
    includes('+'),
  ),
  replacing('IBAN', /\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,8}(?: ?[A-Z0-9]{1,4})?\b/g, '<id>', hasDigit),
];

// Statuses sent by servers. A count or an id rarely has one of these values.
const known = '(?:40[0-9]|41[0-8]|42[1-9]|431|451|49[89]|50[0-8]|51[01]|52[0-9]|530|598|599)';

/** Numbers that distinguish errors, and names with digits, which are hidden from the rules for numbers. */
export const protectedNumbers: Rule[] = [
  replacing(
    'declared length',
    /\b(?:character varying|character|varchar|char|bit|numeric|decimal)\(\d{1,6}(?:, ?\d{1,3})?\)/g,
    protect,
    (text) => text.includes('(') && hasDigit(text),
  ),
  replacing(
    'status',
    /\b(?:status(?: ?code)?|statusCode|https?(?:\/[\d.]{1,3})?(?: (?:status|error|response))?|(?:exit|return)(?:ed|s)?(?: with)?(?: (?:code|status))?|(?:error|err|result|close|response|failure)? ?code|errno|error(?: no\.?)?|signal)\b[ :=(#"'[]{1,3}-?\d{1,5}\b(?! (?:of|out) )/gi,
    protect,
    hasDigit,
  ),
  replacing(
    'answered status',
    /\b(?:answered|responded|returned|replied|received|got|failed|failed:|gave|rejected|server|gateway|upstream)(?: with)?(?: an?| the)?(?: status)?[ :(]{1,2}[1-5]\d\d\b(?! (?:of |out |[a-z]{3,20}s\b|ms\b|k?m?b\b|bytes?\b)|[.,]\d|[\w%-])/gi,
    protect,
    hasDigit,
  ),
  replacing(
    'status after a word',
    new RegExp(`(?:\\b(?:with|got|status)|:|=>|->|→) ${known}(?=[.,;:!)\\]]? ?$|[,;:)] | \\()`, 'g'),
    protect,
    hasDigit,
  ),
  replacing(
    'status text',
    /(?<![\w.,$€£#-])[1-5]\d\d (?=(?:OK|Created|Accepted|No Content|Moved|Found|Bad|Unauth|Payment Req|Forbidden|Not |Method|Conflict|Gone|Precondition|Payload|Request|URI|Unsupported|Unprocess|Locked|Too |Internal|Service|Gateway|HTTP|Client|Server))/g,
    protect,
    hasDigit,
  ),
  replacing(
    'leading status',
    new RegExp(
      `^\\[?(?:[1-5]\\d\\d\\]?(?=[ :-]{1,3}[A-Z"{<])|${known}\\]?(?=[ :-]{1,3}(?![a-z]{3,20}s\\b)[a-z]))`,
    ),
    protect,
    hasDigit,
  ),
  replacing('leading code', /^\d{1,2}(?= [A-Z][A-Z_]{3,30}:)/, protect, hasDigit),
  replacing('status in parentheses', new RegExp(`\\((?:HTTP )?${known}\\)`, 'g'), protect, includes('(')),
  replacing(
    'code',
    /\b(?:(?:E\d{3,6}|P[1-6]\d{3}|ORA-\d{3,6}|TS\d{3,5}|ER\d{3,5})(?!\w)|SQLSTATE ?\[?[0-9A-Z]{5}|[A-Z]{2,12}_[A-Z][A-Z0-9_]{1,60}|PGRST\d{3}|AADSTS\d{4,8}|[A-Z]{1,4}-?\d{4}:)/g,
    protect,
    (text) => /[A-Z]\d|[A-Z]_|[A-Z]-\d|SQLSTATE/.test(text),
  ),
  replacing(
    'technical word',
    /\b(?:base(?:16|32|58|62|64)|sha-?\d{1,3}|md5|utf-?(?:8|16|32)|u?int(?:8|16|32|64)|float(?:32|64)|ipv[46]|http[123]|h2c?|s3|ec2|oauth[12]|x509|[rhep]s(?:256|384|512)|aes-?\d{3}[\w-]{0,10}|ed25519|rsa-?\d{4}|iso-?\d{4}|rfc ?\d{3,4}|mp[34]|hl7|fhir|web3|k8s|i18n|l10n|tls ?v?1(?:\.\d)?|ssl ?v?[23]|postgres(?:ql)?\d\d|latin1|win32|x86|x64|arm64|amd64|es20\d\d|p(?:50|90|95|99)|gpt-\d[\w.-]{0,12}|log4j|neo4j|d3|b2b|2fa|3ds|oauth2|e2e|crc32|v8)\b/gi,
    protect,
    hasDigit,
  ),
];

const units =
  '(?:%|‰|°[cf]?|(?:milli|micro|nano)?sec(?:ond)?s?|min(?:ute)?s?|hours?|days?|weeks?|months?|years?|ms|µs|us|ns|s|m|h|d|w|k|[kmgtp]i?b(?:ytes)?|bytes?|b|px|pt|em|rem|kg|g|mg|lbs?|oz|km|cm|mm|mi|ft|l|ml|hz|khz|mhz|ghz|kwh|kw|w|v|a|x|rpm|rps|bps|kbps|mbps|°)';

/** Identifiers and numbers that no rule above matched. */
export const identifiers: Rule[] = [
  replacing('hex', /\b0x[0-9a-f]{1,128}\b/gi, '<hex>', includes('0x', '0X')),
  replacing(
    'registration',
    /(?<![\w<])(?!(?:GET|PUT|ISO|RFC|TLS|SSL|TCP|UDP|IP|ID|IDS|NO|NR|DB|API|SQL|CSV|PDF|UTC|GMT|AM|PM|OF|TO|AT|IN|OR|IF|PO|VAT|SKU)\b)(?:[A-Z]{1,2}[ -]|[A-Z]{1,3})\d{3,7}[A-Z]{0,3}(?!\w)/g,
    '<id>',
    (text) => /[A-Z][ -]?\d{3}/.test(text),
  ),
  replacing('coordinates', /-?\d{1,3}\.\d{3,10}, ?-?\d{1,3}\.\d{3,10}/g, '<n>', includes('.')),
  replacing('compound duration', /\b(?:\d{1,6}(?:\.\d{1,6})?(?:ms|[dhms]) ?){2,6}(?!\w)/g, '<n>', hasDigit),
  { name: 'id', apply: (text, ascii) => text.replace(ascii ? token : tokenOfAllWords, withoutId) },
  replacing(
    'number',
    new RegExp(
      `(?<![\\w<.])[#№~≈<>±+%-]{0,2}\\d[\\d_]{0,40}(?:[.,]\\d{1,20}){0,8}(?:(?:e|×10\\^)[+-]?\\d{1,4})?(?:(?: ?(?:${units}|${scale}))(?![\\w%])|(?:st|nd|rd|th)\\b)?n?(?!\\w)`,
      'gi',
    ),
    '<n>',
    hasDigit,
  ),
  replacing(
    'path with an id',
    /(?<![\w<./-])[\w@.-]{1,60}(?:\/[\w@.-]{0,60}){0,6}\/[\w@.-]{0,60}<(?:id|n|hex|version)>(?:[\w@.<>-]{0,60}(?:\/[\w@.<>-]{0,60}){0,6})/g,
    '<path>',
    (text) => text.includes('/') && text.includes('<'),
  ),
  replacing('digits', /\d{1,60}(?:[.,]\d{1,20}){0,4}/g, '<n>', hasDigit),
];

const tokenOf = (letter: string): RegExp =>
  new RegExp(
    `(?<![\\w<])(?=[\\w-]{7}|(?:(?!\\d)[\\w-]){0,6}\\d)[${letter}](?:[${letter}]{0,127}(?:[-_][${letter}]{1,127}){0,12})(?![\\w>])`,
    'gi',
  );
const token = tokenOf('a-z0-9');
const tokenOfAllWords = withAllWords(tokenOf(letters));
const amount = new RegExp(
  `^\\d{1,20}(?:${units}|${scale}|e-?\\d{1,4}|st|nd|rd|th)?$|^\\d{1,6}-[a-z]{2,20}$`,
  'i',
);

/** A word of letters and digits is either a name with a number (`worker3`), a kind with an id (`ord_8f3k2`), or an id. */
function withoutId(found: string): string {
  const digits = hasDigit(found);
  if (!digits && (found.length < 7 || !found.split(/[-_]/).some(isRandomWord))) return found;
  if (digits && (!/\p{L}/u.test(found) || amount.test(found))) return found;
  if (/^(?=(?:[a-f]*\d){2})(?=\d*[a-f])[0-9a-f]{6,64}$/i.test(found)) return '<id>';
  const parts = found.split(/[-_]/);
  const stem =
    parts.length === 1
      ? /^(\p{Ll}{3,31}|\p{Lu}\p{Ll}{2,30}|\p{Lo}[\p{Lo}\p{M}]{1,30})\d{1,6}$/u.exec(found)?.[1]
      : undefined;
  if (stem !== undefined && !isRandomWord(stem) && (stem.length < 4 || /[aeiouy]|[^a-z]/i.test(stem)))
    return `${stem}<n>`;
  const kind: string[] = [];
  for (const part of parts) {
    if (!/^(?:\p{Lu}?\p{Ll}{1,20}|[\p{Lo}\p{M}]{1,20})$/u.test(part) || isRandomWord(part)) break;
    kind.push(part);
  }
  return kind.length === 0 ? '<id>' : `${kind.join('_')}_<id>`;
}
