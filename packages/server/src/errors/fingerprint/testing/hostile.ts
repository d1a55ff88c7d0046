const pieces: Record<string, string> = {
  letters: 'a',
  digits: '7',
  'spaces before an at line': '    at ',
  slashes: '/a',
  'dotted words': 'a.',
  'e-mail heads': 'a.b-c@',
  hyphens: 'a-',
  underscores: 'ab_1',
  'hex words': 'deadbeef0 ',
  'open braces': '{"a":',
  'open brackets': '[[',
  'open parens': ' (a',
  quotes: '"a ',
  'single quotes': " 'a",
  backticks: '`a',
  'URL heads': 'http://',
  'token heads': 'eyJaaaaa.',
  colons: 'a:',
  'numbers with commas': '1,',
  'numbers with dots': '1.2.3.',
  'frames without end': '    at f (/a/b.js:1:1)\n',
  causes: '[cause]: Error: x\n',
  capitals: 'Ab Cd ',
  'key=value': 'k=v ',
  'data URI': 'data:a;base64,AAAA',
  tags: '<a ',
  surrogates: '\ud800',
  'NUL bytes': '\u0000',
  newlines: '\n',
  colours: '\u001b[',
  repeated: '<n>, ',
  plus: '+1 2',
  'cannot destructure': "Cannot destructure property 'a' of ",
};

/** Long texts that would make a careless pattern superlinear, one for each kind of repetition the rules look for. */
export function hostileTexts(length: number): { name: string; text: string }[] {
  return Object.entries(pieces).map(([name, piece]) => ({
    name,
    text: piece.repeat(Math.ceil(length / piece.length)).slice(0, length),
  }));
}
