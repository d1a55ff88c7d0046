import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decode } from './decode.ts';
import { encode, UnserializableError } from './encode.ts';

const roundTrip = (value: unknown) => {
  const { text, type } = encode(value, 'payload');
  return decode(text ?? null, type);
};

describe('encode', () => {
  test('sends plain objects as JSON, strings as text, nothing for undefined', () => {
    expect(encode({ a: [1, null] }, 'payload')).toEqual({ text: '{"a":[1,null]}', type: 'application/json' });
    expect(encode('hi', 'payload')).toEqual({ text: 'hi', type: 'text/plain' });
    expect(encode(undefined, 'payload')).toEqual({ text: undefined, type: 'application/json' });
  });

  test.each([
    ['a date', new Date(5)],
    ['a map of sets', new Map([['a', new Set([1])]])],
    ['a bigint', { n: 2n ** 80n }],
    ['undefined inside', { a: undefined, b: [undefined] }],
    ['numbers that JSON loses', [Number.NaN, Number.POSITIVE_INFINITY, -0]],
    ['null', null],
    ['a URL', new URL('https://x.test/a?b=1')],
    ['bytes', new Uint8Array([1, 2, 255])],
    ['a regular expression', /a+/gi],
    ['a string with NUL', 'a\u0000b'],
    ['an empty string', ''],
  ])('brings back %s', (_, value) => {
    expect(roundTrip(value)).toStrictEqual(value);
  });

  test('brings back one object in two places as one, and a circle as a circle', () => {
    const shared = { n: 1 };
    const both = roundTrip({ a: shared, b: shared }) as { a: object; b: object };
    expect(both.a).toBe(both.b);
    const circle: { self?: unknown } = {};
    circle.self = circle;
    const back = roundTrip(circle) as { self: unknown };
    expect(back.self).toBe(back);
  });

  test('brings back whatever JSON can hold, and dates and bigints in it', () => {
    const leaf = fc.oneof(
      fc.string(),
      fc.double(),
      fc.boolean(),
      fc.constant(null),
      fc.constant(undefined),
      fc.date({ noInvalidDate: true }),
      fc.bigInt(),
    );
    const key = fc.string().filter((text) => !['__proto__', 'prototype', 'constructor'].includes(text));
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.array(tie('tree'), { maxLength: 4 }),
        fc.dictionary(key, tie('tree'), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(tree, (value) => {
        expect(structuredClone(roundTrip(value))).toEqual(structuredClone(value));
      }),
    );
  });

  test.each([
    ['a function', () => 1, /payload is a function/],
    ['a symbol', Symbol('x'), /payload is a symbol/],
    ['a promise', Promise.resolve(1), /await it/],
    [
      'a getter that throws',
      {
        get a() {
          throw new Error('no a today');
        },
      },
      /no a today/,
    ],
  ])('refuses %s and says why', (_, value, reason) => {
    expect(() => encode(value, 'payload')).toThrow(UnserializableError);
    expect(() => encode(value, 'payload')).toThrow(reason);
  });

  test('refuses what is nested too deep for any reader', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    expect(() => encode(deep, 'output')).toThrow(/output cannot be serialized/);
  });
});

describe('decode', () => {
  test('refuses text that is not of its type, and a type that it does not know', () => {
    expect(() => decode('{', 'application/json')).toThrow(SyntaxError);
    expect(() => decode('x', 'application/store')).toThrow(/unknown type application\/store/);
  });
});
