import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isSameJson } from './json.ts';

const json = (): fc.Arbitrary<unknown> => fc.jsonValue({ maxDepth: 4 });

test('values with the same content are equal, regardless of the order of members', () => {
  const reversed = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(reversed);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .toReversed()
        .map(([name, member]) => [name, reversed(member)]),
    );
  };
  fc.assert(fc.property(json(), (value) => isSameJson(value, reversed(JSON.parse(JSON.stringify(value))))));
});

test('different values are not equal', () => {
  const read = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
  fc.assert(
    fc.property(json(), json(), (a, b) => {
      expect(isSameJson(read(a), read(b))).toBe(isDeepStrictEqual(read(a), read(b)));
    }),
  );
  for (const [a, b] of [
    [{}, []],
    [[1], { 0: 1 }],
    [{ a: null }, {}],
    [{ a: null }, { b: null }],
    [{}, null],
    ['1', 1],
    [undefined, null],
    [JSON.parse('{"__proto__":{"a":1}}'), JSON.parse('{"__proto__":{"a":2}}')],
    [{ toString: null }, { valueOf: null }],
  ]) {
    expect(isSameJson(a, b), JSON.stringify([a, b])).toBe(false);
    expect(isSameJson(b, a), JSON.stringify([b, a])).toBe(false);
  }
});

test('deep nesting does not overflow the stack', () => {
  const deep = (): unknown => JSON.parse(`${'{"a":['.repeat(100_000)}${']}'.repeat(100_000)}`);
  expect(isSameJson(deep(), deep())).toBe(true);
});
