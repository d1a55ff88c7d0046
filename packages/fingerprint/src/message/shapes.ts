import { bounds } from '../bounds.ts';
import { assertions } from './assertions.ts';
import { isMangled } from '../type.ts';
import { looksRandom } from './random.ts';
import { includes, protect, replacing } from './rule.ts';
import type { Rule } from './rule.ts';
import { fileErrors } from './files.ts';
import { reached } from './reached.ts';

const jsonKind = (text: string): string => {
  if (/^"(?:undefined|\[object Object\])" is not valid JSON/.test(text)) return text;
  if (/^Unexpected token '?</.test(text)) return 'Unexpected token < in JSON';
  if (/^(?:Unexpected token|Unexpected non-whitespace|Unexpected number|Unexpected string)/.test(text))
    return 'Unexpected token in JSON';
  return text.startsWith('Unexpected end') ? 'Unexpected end of JSON input' : 'Malformed JSON';
};
const jsonParse =
  /(?<=^|: )(?:Unexpected (?:token|end of JSON|number|string|non-whitespace)|Unterminated |Expected (?:'|"|,|:|property|double-quoted)|Bad (?:control|escaped|Unicode)|No number after|Exponent part is|".{0,60}" is not valid JSON).{0,300}/s;

// Programs with many subcommands: the next word distinguishes them.
const multiplied =
  /^(?:git|npm|npx|pnpm|yarn|docker|kubectl|helm|terraform|aws|gcloud|az|gh|cargo|go|pip|apt-get|systemctl|openssl|prisma)$/;

/** Messages from known producers: Node, V8, OpenSSL and databases. Each rule removes the parts that belong to the data or to a version. */
export const shapes: Rule[] = [
  ...assertions,
  { name: 'source excerpt', gate: includes('^\n', '^', ' | ', '| '), apply: withoutExcerpt },
  replacing('place in markup', /\nLine: \d{1,9}\nColumn: \d{1,9}\nChar: [^]{0,4}$/, '', includes('\nChar: ')),
  replacing(
    'call that could not connect',
    /^(\d{1,2} [A-Z_]{4,30}: No connection established)[^]*$/,
    '$1',
    includes('No connection established'),
  ),
  replacing('require stack', /\nRequire stack:[^]*$/, '', includes('Require stack')),
  replacing(
    'circular structure',
    /^(Converting circular structure to JSON)[^]*$/,
    '$1',
    includes('circular structure'),
  ),
  replacing(
    'JSON.parse',
    jsonParse,
    jsonKind,
    (text) => text.includes('JSON') || text.startsWith('Unexpected token'),
  ),
  replacing(
    'request of a client',
    /^(Request failed with status code \d{3}(?: [\w ]{1,40})?|Request timed out): [A-Z]{3,7} \S{1,600}$/,
    '$1',
    includes('Request '),
  ),
  replacing('TLS advice', /; if the root CA is installed locally[^]*$/, '', includes('root CA')),
  replacing(
    'certificate names',
    /((?:does not|doesn't) match certificate's (?:altnames|CN))[^]*$/,
    '$1',
    includes('certificate'),
  ),
  replacing(
    'OpenSSL',
    /(?:[0-9A-F]{8,16}:)?error:[0-9A-F]{8}:([\w ]{1,40}):[^:\n]{0,60}:([^:\n]{1,80})(?::\.\.[^:\n]{0,120}:\d{0,6}:?)?/g,
    (_all = '', library = '', reason = '') =>
      // The position at which parsing a key fails depends on its bytes.
      library.startsWith('asn1')
        ? 'OpenSSL asn1 encoding routines'
        : `${protect(`OpenSSL ${library}`)}: ${reason}`,
    includes('error:'),
  ),
  fileErrors,
  replacing(
    'failed command',
    /^(Command failed(?: with [^:\n]{1,60})?:) ([^\s]{1,200})([^\n]*)/,
    (_all = '', head = '', path = '', rest = '') => {
      const program = path.slice(path.lastIndexOf('/') + 1);
      const verb = multiplied.test(program) ? (/^ [a-z][a-z-]{1,20}\b/.exec(rest)?.[0] ?? '') : '';
      const exit = /\bexit[ (](\d{1,3})\b/.exec(`${program}${rest}`);
      return `${head} ${protect(`${program}${verb}`)}${exit ? ` exit ${protect(exit[1] ?? '')}` : ''}`;
    },
    includes('Command failed'),
  ),
  replacing(
    'spawn',
    /^(spawn(?:Sync)?) (\S{1,300}) (E[A-Z]{2,15})/,
    (_all = '', head = '', path = '', code = '') => {
      const program = path.slice(path.lastIndexOf('/') + 1);
      // A script generated for one run.
      return looksRandom(program) ? `${head} <path> ${code}` : `${head} ${protect(program)} ${code}`;
    },
    includes('spawn'),
  ),
  replacing(
    'not a function',
    /^(?:[^\n]{0,200}?[.)\s])?(#?[\w$]{1,80}|\(intermediate value\)|\.{3}|\[[^\]\n]{0,60}\])(\([.{3}\w\s,]{0,40}\)|\))? is not (a function|a constructor)(?: or its return value is not iterable)?/,
    (_all = '', name = '', _call = '', what = '') => `${protect(plainName(name))} is not ${what}`,
    includes(' is not a'),
  ),
  // Variable names depend on the bundler.
  replacing(
    'computed member',
    /^[\w$.]{1,100}\[[^\]\n]{1,60}\] is not (a function|a constructor)\b/,
    '<value> is not $1',
    includes('] is not a'),
  ),
  replacing(
    'not iterable',
    /^(?:(?:object|number|string|boolean|function|symbol) )?(\S{0,200}) is not (iterable|async iterable)(?: \(.{0,80}\))?/,
    (_all = '', subject = '', what = '') => `${protect(lastName(subject))} is not ${what}`,
    includes('iterable'),
  ),
  replacing(
    'destructure',
    /^(Cannot destructure property '[^'\n]{1,80}') of .{1,200}? (as it is (?:undefined|null))\.?$/,
    '$1 $2',
    includes('destructure'),
  ),
  replacing(
    'received',
    /(\. Received| but received| Received:?) (undefined|null|NaN|Infinity|type \w{1,20}|an instance of \w{1,60}|function|true|false)?(?: ?\([^]{0,400}\)| [^]{0,400}| ?-?[\d_.,]{1,40}n?)?$/,
    '$1 $2',
    includes('eceived'),
  ),
  replacing(
    'expected and found',
    /\b([Ee]xpected [^\n]{1,120}?),? (?:but )?(?:we )?(?:got|found|received|saw|was|actual)(?: instead)?:? (?!undefined\b|null\b|nothing\b|none\b|NaN\b|end\b|EOF\b|[1-5]\d\d\b)[^\n]{1,300}$/,
    '$1, got <value>',
    includes('xpected '),
  ),
  replacing('received value', / Received -?[\d_.,]{1,40}n?$/, ' Received <n>', includes(' Received ')),
  replacing(
    'in operator',
    /^(Cannot use 'in' operator to search for '[^'\n]{0,100}' in) [^]{0,600}$/,
    '$1 <value>',
    includes("'in' operator"),
  ),
  replacing(
    'class extends',
    /^(Class extends value) [^]{0,600} (is not a constructor or null)$/,
    '$1 <value> $2',
    includes('Class extends'),
  ),
  replacing(
    'could not be cloned',
    /^([^]{0,1000}) (could not be cloned)\.$/,
    (_all = '', value = '', what = '') => `${kindOf(value)} ${what}`,
    includes('could not be cloned'),
  ),
  replacing(
    'time zone',
    /^(Invalid time zone specified|Invalid currency code ?|Incorrect locale information provided|Invalid language tag|Invalid unit argument for [\w()]{1,40}):? [^]{0,200}$/,
    '$1: <value>',
    includes('Inv', 'Incorrect locale'),
  ),
  replacing('BigInt', /^(Cannot convert) .{1,200} (to a BigInt)$/, '$1 <value> $2', includes('BigInt')),
  replacing(
    'regular expression',
    /^(Invalid regular expression): \/.{0,400}\/\w{0,8}: /s,
    '$1: ',
    includes('regular expression'),
  ),
  replacing(
    'property by number',
    /(Cannot (?:read|set) propert(?:y|ies) of \w{4,9} \((?:reading|setting)) '\d{1,20}'\)/,
    '$1 <n>)',
    includes(' properties of '),
  ),
  replacing(
    'invalid header',
    /^(Headers\.\w{1,20}: )"[^]{0,600}" (is an invalid header \w{1,10})/,
    '$1<value> $2',
    includes('invalid header'),
  ),
  replacing(
    'unknown flag',
    /^(Unknown option|Unexpected argument) '[^'\n]{0,200}'[^]{0,400}$/,
    '$1',
    includes("Unknown option '-", 'Unexpected argument'),
  ),
  // The path of an app's module varies: it is relative in the source, and sometimes absolute in Node's message.
  replacing(
    'module',
    /^Cannot find module '(?:\.{0,2}|[A-Za-z]:|file:\/\/)[\\/](?:[^'\n]{0,400}[\\/])?([\w-]{1,60})(?:\.\w{1,4})?'/,
    (_all = '', name = '') =>
      /\d|^index$/.test(name) ? 'Cannot find module <path>' : `Cannot find module ${protect(`'${name}'`)}`,
    includes('Cannot find module'),
  ),
  replacing(
    'module or package',
    /^Cannot find (?:module|package) (?='[^./])/,
    'Cannot find package ',
    includes('Cannot find'),
  ),
  replacing('imported from', / imported from .{1,400}$/s, '', includes(' imported from ')),
  replacing('parse URL', /^(Failed to parse URL(?: from)?) .{0,400}$/s, '$1 <url>', includes('parse URL')),
  replacing(
    'invalid input',
    /^(invalid input (?:syntax|value) for [^:\n]{1,80}:) .{0,400}$/s,
    '$1 <value>',
    includes('invalid input'),
  ),
  replacing(
    'out of range',
    /^value "[^"\n]{0,200}" (is out of range)/,
    'value <value> $1',
    includes('out of range'),
  ),
  replacing(
    'duplicate entry',
    /^(Duplicate entry) '.{0,300}?' (for key)/s,
    '$1 <value> $2',
    includes('Duplicate entry'),
  ),
  replacing(
    'dup key',
    /(?:\bindex: ([\w.$-]{1,80}) )?dup key: \{.{0,400}$/s,
    (_all = '', index = '') => `${index === '' ? '' : protect(`index: ${index} `)}dup key`,
    includes('dup key'),
  ),
  replacing(
    'SQL near',
    /(right syntax to use near|syntax error near|near) '[^]{0,600}' at line \d{1,6}/,
    '$1 <sql>',
    includes(" near '"),
  ),
  replacing(
    'incorrect value',
    /^(Incorrect [\w ]{1,30} value:) '.{0,300}?' (for column)/s,
    '$1 <value> $2',
    includes('Incorrect '),
  ),
  replacing('key detail', /(Key \([^()\n]{1,120}\)=)\([^()\n]{0,300}\)/g, '$1(<value>)', includes(')=(')),
  replacing('redis arguments', /, with args beginning with:.{0,400}$/s, '', includes('with args beginning')),
  replacing('redis slot', /\b(MOVED|ASK) \d{1,6} \S{1,100}/, '$1', includes('MOVED ', 'ASK ')),
  reached,
];

const numbered = /^\s{0,8}(?:>{1,2}|→|❯)?\s{0,8}\d{1,7}\s{0,2}[|:]/;
const marker = /^[\s|~-]{0,400}\^[\s~^-]{0,400}$/;

/** Removes the line that a parser quotes and the marker below it, because they are data. */
function withoutExcerpt(text: string): string {
  if (!text.includes('\n')) return text;
  const lines = text.split('\n', 80);
  const marked = lines.some((line) => marker.test(line.slice(0, bounds.line)));
  const listing = lines.filter((line) => numbered.test(line.slice(0, 40))).length;
  if (!marked && listing < 2 && !/^\s{0,4}>{1,2} ?\d/m.test(text)) return text;
  const left = lines.filter(
    (line, at) =>
      !numbered.test(line.slice(0, 40)) &&
      !marker.test(line.slice(0, bounds.line)) &&
      (at === 0 || at + 1 >= lines.length || !marker.test((lines[at + 1] ?? '').slice(0, bounds.line))),
  );
  return left.length === 0 ? text : left.join('\n');
}

/** Property names are the same in every build; the number that a bundler adds to a variable is removed. */
function lastName(subject: string): string {
  const name = subject.slice(subject.lastIndexOf('.') + 1).replace(/\$\d{1,3}$/, '');
  return /^[A-Za-z_]\w{2,60}$/.test(name) && name !== 'for' && !isMangled(name) ? plainName(name) : '<value>';
}

/** Keeps the class of a value that cannot be cloned; its source changes with the build. */
function kindOf(value: string): string {
  const named = /^#<(\w{1,60})>$|^\[object (\w{1,60})\]$|^(Symbol)\(/.exec(value);
  const kind = named?.[1] ?? named?.[2] ?? named?.[3];
  return kind === undefined ? '<value>' : protect(kind);
}

/** Restores the name of an import or a variable that a bundler renamed. */
function plainName(name: string): string {
  const plain = name.replace(/(?<=[a-z])[2-9]$/, '');
  return /^(?:\w{1,2}|\.{3}|\(intermediate value\))$/.test(plain) ? '<value>' : plain;
}
