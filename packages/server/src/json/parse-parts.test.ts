import fc from 'fast-check';
import { ForeignJsonError, type ForeignJsonLimits } from '@millrace/contract/foreign-json';
import { expect, test } from 'vitest';
import { parseParts } from './parse-parts.ts';
import { atOnce } from './parts.ts';

/** Makes any text large. */
const padding = ' '.repeat(4 * 1024 * 1024);
const ofBytes = (bytes: Buffer, limits: ForeignJsonLimits = {}, maxShortEscapes?: number): unknown =>
  atOnce(parseParts(bytes, limits, maxShortEscapes));
const parsed = (text: string, limits?: ForeignJsonLimits, maxShortEscapes?: number): unknown =>
  ofBytes(Buffer.from(padding + text), limits, maxShortEscapes);
const reasonOf = (act: () => unknown): string => {
  try {
    act();
  } catch (error) {
    if (error instanceof ForeignJsonError) return error.reason;
    throw error;
  }
  return 'none';
};

const unit = fc.constantFrom('"', '\\', '\n', '\u0001', 'a', 'é', '€', '😀', '\ud83d', 'u', '\\u');
/** A few characters, a slice of the text, or longer than a part. */
const string = fc.oneof(
  fc.string({ unit, maxLength: 20 }),
  fc
    .tuple(fc.string({ unit, maxLength: 8 }), fc.array(unit, { minLength: 1, maxLength: 4 }), fc.nat(3))
    .map(([start, units, size]) => start + units.join('').repeat([2, 600, 2_000, 140_000][size] as number)),
);
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    string,
    fc.constantFrom(0, 1.5, true, null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(string, fc.constant('__proto__')), tie('value'), { maxKeys: 4 }),
  ),
})).value;

test('a large text is parsed like JSON.parse', { timeout: 300_000 }, () => {
  fc.assert(
    fc.property(json, fc.constantFrom(undefined, 1), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      // A lone surrogate is not valid UTF-8, so it must be escaped, as JSON.stringify does.
      expect(parsed(text, { maxEscapes: 10_000_000 }, 10_000_000)).toEqual(JSON.parse(text));
    }),
    { numRuns: 25 },
  );
});

test('a string is never cut inside an escape or a character', () => {
  const long = 300_000;
  for (const part of ['\\"', '\\\\', '\\u00e9', '\\ud83d\\ude00', 'é', '€', '😀', '\\\\u00e9', '\\n\\\\'])
    for (const before of ['', 'a', 'ab', 'abc', 'abcd', 'abcde']) {
      const text = `["${before}${part.repeat(long / 2)}"]`;
      expect(parsed(text, { maxEscapes: 10_000_000 })).toEqual(JSON.parse(text));
    }
});

test('long and repeated member names are parsed like JSON.parse', () => {
  const name = JSON.stringify('n"'.repeat(2_000));
  for (const text of [
    `{${name}:1,"b":2,${name}:3}`,
    `{"__proto__":${name},"constructor":{${name}:[${name}]}}`,
  ]) {
    const value = parsed(text);
    expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(text)));
  }
});

test('the limits are enforced, with a separate limit for escapes in short strings', () => {
  const short = JSON.stringify(Array.from({ length: 1_000 }, () => '"'.repeat(500)));
  const long = JSON.stringify(['"'.repeat(1_000_000)]);
  expect(reasonOf(() => parsed(long, { maxMembers: 1_000, maxEscapes: 2_000_000 }))).toBe('none');
  expect(reasonOf(() => parsed(long, { maxMembers: 1_000 }))).toBe('members');
  expect(reasonOf(() => parsed(short, { maxMembers: 1_000, maxEscapes: 2_000_000 }))).toBe('members');
  expect(reasonOf(() => parsed(short, { maxMembers: 1_000, maxEscapes: 2_000_000 }, 2_000_000))).toBe('none');
  expect(reasonOf(() => parsed('['.repeat(1_001)))).toBe('depth');
  expect(reasonOf(() => parsed('[]', { maxBytes: padding.length + 1 }))).toBe('size');
});

test('invalid JSON is a syntax error', () => {
  const long = 'x'.repeat(2_000);
  for (const text of [
    `{"a":"${long}`,
    `["${long}" "b"]`,
    `["${long}\n"]`,
    `["${long}\\x"]`,
    `["${long}\\u12"]`,
    long,
  ])
    expect([text.slice(-9), reasonOf(() => parsed(text))]).toEqual([text.slice(-9), 'syntax']);
  const broken = Buffer.concat([Buffer.from(`${padding}["${long}`), Buffer.from([0xff, 0x22, 0x5d])]);
  expect(reasonOf(() => ofBytes(broken))).toBe('syntax');
});
