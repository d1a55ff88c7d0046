import { includes, protect, replacing, reveal } from './rule.ts';
import type { Rule } from './rule.ts';
import { looksRandom } from './random.ts';
import { isErrorWord } from './vocabulary.ts';

const schemaNoun =
  /(?:^|[\s([{:,])(?:column|field|property|prop|relation|table|constraint|key|keys|index|schema|function|method|operator|parameter|param|argument|arg|option|variable|env|environment variable|header|attribute|module|package|plugin|command|type|class|queue|topic|bucket|collection|view|sequence|trigger|extension|import|export|symbol|identifier|keyword|directive|enum|interface|setting|event|scope|permission|feature|flag|rule|stage|step|hook|claim|path|setting|service|gateway|provider|driver|adapter|engine|format|encoding|algorithm|protocol|method|task|action|operation|query|mutation|resolver|route|job|cron|worker|locale|model|entity|near|constructor|select|in|template|layout|partial|component|strategy|policy|connector|integration|check|value for|value of|required|missing|expected|must have|needs|of)s?\s?:? ?$|\(reading ?$/i;
const dataNoun =
  /(?:^|[\s([{:,])(?:database|role|user|username|customer|client|account|order|product|item|sku|file|filename|folder|city|country|currency|region|coupon|voucher|tenant|org|organization|organisation|company|vendor|supplier|merchant|store|shop|email|e-mail|mail|address|phone|host|hostname|domain|ip|id|ids|uuid|token|session|invoice|payment|shipment|parcel|booking|reservation|ticket|project|workspace|team|member|device|sensor|vehicle|driver name|patient|student|employee|title|name|label|tag|slug|code|value|input|string|text|date|time|timestamp|number|iban|vat|zip|postcode|document|record|row|entry|got|was|received|actual|found|from|to|with|by|for|is|are|not|than|equal|equals|into|as|recognized|recognised|result|response|body|message|reason|plan|subscription|contract|campaign|article|post|comment|page|song|movie|book|represent|parse|parsing|convert|converting|decode|coerce|interpret|cast|warehouse|flight|route|vessel|container|truck)\s?:? ?$/i;
const valueVerdict =
  /^ (?:is not an? |is not valid|is invalid|is not among|isn't an? |was not found in |has already been taken|not in )/;
const fieldVerdict =
  /^ (?:is (?:required|not allowed|missing|not defined|not a function|deprecated|read-?only)|must|should|cannot be|can't be|contains|length|with value|property|field|column|claim|param|option|attribute|argument|not (?:found in|defined))/;
const modelNoun = /\b[Mm]odel:? ?$/;
const schemaAfter =
  /^ (?:command|column|field|property|table|relation|index|constraint|argument|parameter|option|header|variable|environment|method|function|event|queue|topic|scope|permission|flag)\b|^ (?:does not support|is not supported)/;
const identifier = /^[\p{L}\p{M}\p{N}_$@#.*[\]/:-]{1,80}$/u;

/** Quoted text: names from a schema or code are kept (column "email" is not column "name"), and data is removed. */
export const quotes: Rule[] = [
  replacing(
    'double quotes',
    /(?<![\w"])(?:["“«])([^"“”«»\n]{0,400})(?:["”»])/g,
    ((whole: string, inner: string, at: number, text: string) =>
      quoted(whole, inner, at, text)) as unknown as (...parts: string[]) => string,
    includes('"', '“', '«'),
  ),
  replacing(
    'backticks',
    /`([^`\n]{0,300})`/g,
    ((whole: string, inner: string, at: number, text: string) =>
      quoted(whole, inner, at, text)) as unknown as (...parts: string[]) => string,
    includes('`'),
  ),
  replacing(
    'single quotes',
    /(?<![\w'\ue020-\ue05f])['‘]([^'‘’\n]{0,300})['’](?!\p{Ll})/gu,
    ((whole: string, inner: string, at: number, text: string) =>
      quoted(whole, inner, at, text)) as unknown as (...parts: string[]) => string,
    includes("'", '‘'),
  ),
  replacing(
    'named value',
    /^((?:Invalid|Illegal|Malformed|Bad|Unrecognized|Unrecognised|Unsupported|Unknown|Unexpected|Disallowed|Incorrect|No such|(?:Cannot|Could not|Can't|Couldn't|Failed to|Unable to) (?:parse|decode|convert|read|resolve|find))[^:\n]{0,60}?\s?:) (\S{1,200})$/i,
    (whole = '', head = '', value = '') => {
      return /<\w+>/.test(value) ||
        looksRandom(value) ||
        (schemaNoun.test(`${head.slice(0, -1).trimEnd()} `) &&
          keeps(value, `${head.slice(0, -1).trimEnd()} `, ''))
        ? whole
        : `${head} <text>`;
    },
    includes(':'),
  ),
];

function quoted(whole: string, inner: string, at: number, text: string): string {
  const before = text.slice(Math.max(0, at - 40), at);
  const after = text.slice(at + whole.length, at + whole.length + 40);
  return keeps(reveal(inner), before, after) ? protect(`'${inner}'`) : '<text>';
}

function keeps(inner: string, before: string, after: string): boolean {
  if (inner === '' || !identifier.test(inner)) return inner === '';
  // Models are named after their size and version: "gpt-5-mini", "claude-3-5-haiku".
  if (modelNoun.test(before) && /^[a-z][a-z0-9.:-]{2,40}$/.test(inner)) return !/\d{4}/.test(inner);
  if (/\d{3}/.test(inner) || /<\w+>/.test(inner)) return false;
  if (looksRandom(inner)) return false;
  if (schemaNoun.test(before)) return !/[-:]\d|\//.test(inner);
  if (schemaAfter.test(after)) return !/\//.test(inner);
  // A single letter is a character that a parser did not expect.
  if (inner.length === 1) return false;
  if (valueVerdict.test(after)) return false;
  if (dataNoun.test(before)) return false;
  // Snake case, camel case, dotted names and constants come from code.
  if (
    /^[a-z][a-z0-9]*(?:_[a-z0-9]+)+$|^[a-z]+(?:[A-Z][a-z0-9]*)+$|^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$|^[a-zA-Z_]\w*(?:\.[a-zA-Z_]\w*)+$/.test(
      inner,
    )
  )
    return true;
  return (
    /^(?:[a-z_$][a-zA-Z_$]*|[A-Z_]+)$/.test(inner) &&
    (fieldVerdict.test(after) || !/^[a-z]+$/.test(inner) || isErrorWord(inner))
  );
}
