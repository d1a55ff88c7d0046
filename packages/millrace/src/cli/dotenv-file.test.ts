import { parse } from 'dotenv';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dotenvFile } from './dotenv-file.ts';
import { numRuns } from '../../../../test/support/long.ts';

test('writes values that the library reads back, and returns the names of others', () => {
  const pieces = fc.constantFrom(
    "'",
    '"',
    '`',
    '\\n',
    '\\',
    '\n',
    '\r',
    '#',
    ' ',
    '=',
    '$A',
    'é',
    'x',
    'export ',
  );
  const value = fc.array(pieces, { maxLength: 8 }).map((parts) => parts.join(''));
  const property = fc.property(
    fc.dictionary(fc.stringMatching(/^[A-Z_][A-Z0-9_]{0,5}$/), value),
    (variables) => {
      const { text, missing } = dotenvFile(variables);
      const read = parse(text);
      for (const [name, expected] of Object.entries(variables)) {
        expect(missing.includes(name) ? undefined : read[name]).toBe(
          missing.includes(name) ? undefined : expected,
        );
      }
      expect(Object.keys(read)).toHaveLength(Object.keys(variables).length - missing.length);
    },
  );
  fc.assert(property, { numRuns: numRuns(1_000) });
});

test('quotes few values and omits fewer', () => {
  expect(dotenvFile({ B: 'a b', A: 'postgres://u:p@h:5432/d', C: "it's" })).toEqual({
    text: "A=postgres://u:p@h:5432/d\nB='a b'\nC=`it's`\n",
    missing: [],
  });
  expect(dotenvFile({ A: `all of '"\`` })).toEqual({ text: '', missing: ['A'] });
});
