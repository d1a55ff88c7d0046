import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decode } from './decode.ts';
import { encode } from './encode.ts';
import { jsonText } from './json.ts';
import { UnserializableError } from './unserializable-error.ts';

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
  ])('restores %s', (_, value) => {
    expect(roundTrip(value)).toStrictEqual(value);
  });

  test('restores one object in two places as one, and a cycle as a cycle', () => {
    const shared = { n: 1 };
    const both = roundTrip({ a: shared, b: shared }) as { a: object; b: object };
    expect(both.a).toBe(both.b);
    const circle: { self?: unknown } = {};
    circle.self = circle;
    const back = roundTrip(circle) as { self: unknown };
    expect(back.self).toBe(back);
  });

  test('restores every JSON value, and dates and bigints in it', () => {
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
  ])('rejects %s with a reason', (_, value, reason) => {
    expect(() => encode(value, 'payload')).toThrow(UnserializableError);
    expect(() => encode(value, 'payload')).toThrow(reason);
  });

  const sparse: number[] = [];
  sparse.length = 2;

  class Money {
    readonly cents = 5;
  }
  class Custom {
    toJSON(): object {
      return { custom: true };
    }
  }

  test.each([
    ['a function inside', { user: { callback: () => 1 } }, 'payload.user.callback is a function'],
    ['a symbol inside a list', { list: [1, Symbol('x')] }, 'payload.list[1] is a symbol'],
    ['a name that is not a word', { 'two words': { f() {} } }, 'payload["two words"].f is a function'],
    ['an instance of a class', { price: new Money() }, 'payload.price is a Money, an instance of a class'],
    ['a promise inside', { later: Promise.resolve(1) }, 'payload.later is a promise: await it first'],
    ['an invalid date', { at: new Date(Number.NaN) }, 'payload.at is an invalid date'],
    ['a function in a map', new Map([['a', () => 1]]), 'payload.get("a") is a function'],
    ['a symbol as key of a map', new Map([[Symbol('x'), 1]]), 'payload.keys()[0] is a symbol'],
    ['a function in a set', { s: new Set([() => 1]) }, 'payload.s.values()[0] is a function'],
    ['a function in a cause', new Error('x', { cause: { f() {} } }), 'payload.cause.f is a function'],
    ['a hole', { list: sparse }, 'payload.list[0] is a hole in a sparse array'],
    ['a buffer', { file: Buffer.from('x') }, 'payload.file is a Buffer: send it as a Uint8Array'],
    ['binary data without a view', { file: new ArrayBuffer(2) }, 'payload.file is an ArrayBuffer'],
    ['big integers of 64 bits', { n: new BigInt64Array(1) }, 'payload.n is a BigInt64Array'],
    ['a weak map', { cache: new WeakMap() }, 'payload.cache is a WeakMap, an instance of a class'],
    ['a boxed number', { n: Object(1) as object }, 'payload.n is a Number, an instance of a class'],
  ])('rejects %s and names its path', (_, value, reason) => {
    expect(() => encode(value, 'payload')).toThrow(UnserializableError);
    expect(() => encode(value, 'payload')).toThrow(`The payload cannot be serialized: ${reason}`);
  });

  test('suggests a plain object instead of an instance', () => {
    expect(() => encode([new Money()], 'output')).toThrow(
      'output[0] is a Money, an instance of a class: send a plain object, such as { ...value }, or give the class a toJSON method',
    );
    expect(() => encode({ reply: new Response('') }, 'output')).toThrow(
      'output.reply is a Response, an instance of a class: send a plain object with the fields that are needed, or',
    );
  });

  test('continues after a cycle, and visits each object once', () => {
    const circle: Record<string, unknown> = { at: new Date(5) };
    circle['self'] = circle;
    expect(roundTrip(circle)).toStrictEqual(circle);
    circle['z'] = () => 1;
    expect(() => encode(circle, 'payload')).toThrow('payload.z is a function');
  });

  test('restores an error with its name, message and cause', () => {
    const back = roundTrip({ error: new TypeError('no', { cause: new Date(5) }) }) as { error: Error };
    expect(back.error).toBeInstanceOf(Error);
    expect(back.error).toMatchObject({ name: 'TypeError', message: 'no', cause: new Date(5) });
  });

  test('writes values with a toJSON method by calling it', () => {
    expect(roundTrip({ at: new Date(5), custom: new Custom() })).toEqual({
      at: new Date(5),
      custom: { custom: true },
    });
  });

  test('rejects values that are nested too deeply for any reader', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    expect(() => encode(deep, 'output')).toThrow(/output cannot be serialized/);
  });
});

describe('JSON-only places', () => {
  const circle: Record<string, unknown> = {};
  circle['deep'] = { back: circle };

  test.each([
    ['a function', { user: { callback: () => 1 } }, 'metadata.user.callback is a function'],
    ['a symbol', [Symbol('x')], 'metadata[0] is a symbol'],
    ['a map', { seen: new Map() }, 'metadata.seen is a Map: send an array or a plain object'],
    ['a set', { seen: new Set() }, 'metadata.seen is a Set: send an array or a plain object'],
    ['a bigint', { n: 1n }, 'metadata.n is a bigint: send it as a string'],
    ['a number that JSON has not', { n: Number.NaN }, 'metadata.n is NaN'],
    ['undefined in a list', { list: [undefined] }, 'metadata.list[0] is undefined: send null'],
    ['an error', { error: new RangeError('x') }, 'metadata.error is a RangeError: send its name and message'],
    ['a circle', circle, 'metadata.deep.back is an object that contains it: a circular reference'],
    ['bytes', { file: new Uint8Array(1) }, 'metadata.file is a Uint8Array: send it as base64 text'],
    ['a regular expression', { like: /a/ }, 'metadata.like is a RegExp, an instance of a class'],
  ])('reject %s and name its path', (_, value, reason) => {
    expect(() => jsonText(value, 'metadata')).toThrow(UnserializableError);
    expect(() => jsonText(value, 'metadata')).toThrow(`The metadata cannot be serialized as JSON: ${reason}`);
  });

  test('accept dates as strings, one object twice, and omit undefined properties', () => {
    const twice = { n: 1 };
    const value = { at: new Date(5), a: twice, b: [twice], none: undefined };
    expect(jsonText(value, 'metadata')).toBe('{"at":"1970-01-01T00:00:00.005Z","a":{"n":1},"b":[{"n":1}]}');
  });
});

describe('decode', () => {
  test('rejects text that is not of its type, and an unknown type', () => {
    expect(() => decode('{', 'application/json')).toThrow(SyntaxError);
    expect(() => decode('x', 'application/store')).toThrow(/unknown type application\/store/);
  });
});
