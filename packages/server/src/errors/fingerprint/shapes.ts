import { includes, protect, replacing } from './rule.ts';
import type { Rule } from './rule.ts';

const jsonKind = (text: string): string => {
  if (/^"(?:undefined|\[object Object\])" is not valid JSON/.test(text)) return text;
  if (/^Unexpected token '?</.test(text)) return 'Unexpected token < in JSON';
  if (/^(?:Unexpected token|Unexpected non-whitespace|Unexpected number|Unexpected string)/.test(text))
    return 'Unexpected token in JSON';
  return text.startsWith('Unexpected end') ? 'Unexpected end of JSON input' : 'Malformed JSON';
};
const jsonParse =
  /^(?:Unexpected (?:token|end of JSON|number|string|non-whitespace)|Unterminated |Expected (?:'|"|,|:|property|double-quoted)|Bad (?:control|escaped|Unicode)|No number after|Exponent part is|".{0,60}" is not valid JSON).{0,300}/s;

/** Messages whose producer is known: Node, V8, OpenSSL and databases. Each loses what belongs to the data or to the version. */
export const shapes: Rule[] = [
  replacing(
    'assertion diff',
    /^((?:Expected (?:values|inputs|"actual")|Values have|Input (?:A|objects)|The expression evaluated|The input |Missing expected|Got unwanted)[^\n]{0,200}?):?\n[^]*$/,
    '$1',
    includes('\n'),
  ),
  replacing(
    'assertion diff',
    /\n\s{0,4}\+ (?:actual|expected)\b[^]*$|\n\n(?:- Expected|\+ Received|Expected:|Received:)[^]*$/,
    '',
    includes('\n'),
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
    'OpenSSL $1: $2',
    includes('error:'),
  ),
  replacing('fs path', /^(E[A-Z]{3,15}: [^,\n]{1,100}, \w{1,20}) .*$/s, '$1 <path>'),
  replacing(
    'failed command',
    /^(Command failed(?: with [^:\n]{1,60})?:) ([^\s]{1,200})([^\n]*)/,
    (_all = '', head = '', program = '', rest = '') => {
      const exit = /\bexit (\d{1,3})\b/.exec(rest);
      return `${head} ${protect(program.slice(program.lastIndexOf('/') + 1))}${exit ? ` exit ${protect(exit[1] ?? '')}` : ''}`;
    },
    includes('Command failed'),
  ),
  replacing(
    'spawn',
    /^(spawn(?:Sync)?) (\S{1,300}) (E[A-Z]{2,15})/,
    (_all = '', head = '', program = '', code = '') =>
      `${head} ${protect(program.slice(program.lastIndexOf('/') + 1))} ${code}`,
    includes('spawn'),
  ),
  replacing(
    'not a function',
    /^(?:[^\n]{0,200}?[.)\s])?(#?[\w$]{1,80}|\(intermediate value\)|\.{3}|\[[^\]\n]{0,60}\])(\([.{3}\w\s,]{0,40}\)|\))? is not (a function|a constructor)(?: or its return value is not iterable)?/,
    (_all = '', name = '', _call = '', what = '') => `${protect(plainName(name))} is not ${what}`,
    includes(' is not a'),
  ),
  replacing(
    'not iterable',
    /^(?:(?:object|number|string|boolean|function|symbol) )?(\S{0,200}) is not (iterable|async iterable)(?: \(.{0,80}\))?/,
    (_all = '', subject = '', what = '') =>
      `${/^(?:undefined|null)$/.test(subject) ? subject : '<value>'} is not ${what}`,
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
    /^[^]{0,1000} (could not be cloned)\.$/,
    '<value> $1',
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
  replacing('dup key', /dup key: \{.{0,400}$/s, 'dup key', includes('dup key')),
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
  replacing(
    'system error',
    /\b(connect|read|write|bind|listen|accept|shutdown|getaddrinfo|query\w{0,20}|send|recvmsg) (E[A-Z_]{2,15})(?: [^\s,;]{1,200})?(?: - Local \([^)\n]{0,100}\))?/g,
    '$1 $2',
    (text) => /\bE[A-Z]{2}/.test(text),
  ),
];

/** The name a bundler gave to an import or a second variable is not the name in the source. */
function plainName(name: string): string {
  return /^(?:\w{1,2}|\.{3}|\(intermediate value\))$/.test(name)
    ? '<value>'
    : name.replace(/(?<=[a-z])[2-9]$/, '');
}
