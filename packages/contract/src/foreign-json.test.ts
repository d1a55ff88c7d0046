import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ForeignJsonError, JsonScan, parseForeignJson, type ForeignJsonLimits } from './foreign-json.ts';
import { maxJsonLevels, maxJsonMembers } from './json.ts';

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

const errorOf = (text: string | Uint8Array, limits: ForeignJsonLimits = {}): ForeignJsonError => {
  try {
    parseForeignJson(text, limits);
  } catch (error) {
    if (error instanceof ForeignJsonError) return error;
    throw error;
  }
  throw new Error('The text was accepted.');
};

const unit = fc.constantFrom('"', '\\', '[', '{', ',', ':', 'a', 'é', '€', '😀', '\n');
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 6 },
    fc.string({ unit, maxLength: 80 }),
    fc.double({ noDefaultInfinity: true, noNaN: true }),
    fc.array(tie('value')),
    fc.dictionary(fc.string({ unit }), tie('value')),
  ),
})).value;

const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

/** Number of escapes in the JSON of a text. Here, only quotes, backslashes and line breaks need one. */
const escapesIn = (text: string): number => text.match(/["\\\n]/g)?.length ?? 0;

const membersOf = (value: unknown): number => {
  if (typeof value === 'string') return escapesIn(value) / 16;
  if (typeof value !== 'object' || value === null) return 0;
  const inner = Object.values(value);
  const names = Array.isArray(value)
    ? 0
    : Object.keys(value).reduce((sum, name) => sum + escapesIn(name), 0) / 16;
  const own = inner.length === 0 ? 1 : ((Array.isArray(value) ? 1 : 4) * inner.length + 3) / 4;
  return own + names + inner.map(membersOf).reduce((sum, count) => sum + count, 0);
};

test('any text within the limits is parsed as JSON.parse does, and the limits are exact', () => {
  fc.assert(
    fc.property(json, fc.constantFrom(undefined, 1), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      const limits = {
        maxBytes: Buffer.byteLength(text),
        maxDepth: depthOf(value),
        maxMembers: membersOf(value),
      };
      for (const written of [text, Buffer.from(text)]) {
        expect(parseForeignJson(written, limits)).toEqual(JSON.parse(text));
        expect(errorOf(written, { ...limits, maxBytes: limits.maxBytes - 1 }).reason).toBe('size');
        if (limits.maxDepth > 0) {
          expect(errorOf(written, { maxDepth: limits.maxDepth - 1 }).reason).toBe('depth');
          expect(errorOf(written, { maxMembers: limits.maxMembers - 1 / 16 }).reason).toBe('members');
        }
      }
    }),
  );
});

test('a text is counted the same regardless of how it is split', () => {
  fc.assert(
    fc.property(json, fc.array(fc.nat(40)), (value, sizes) => {
      const bytes = Buffer.from(JSON.stringify(value));
      const limits = { maxDepth: depthOf(value), maxMembers: membersOf(value) };
      const isExceeded = (max: ForeignJsonLimits) => {
        const scan = new JsonScan(max);
        let from = 0;
        for (const size of sizes) scan.add(bytes.subarray(from, (from += size)));
        scan.add(bytes.subarray(from));
        return scan.exceeded;
      };
      expect(isExceeded(limits)).toBeUndefined();
      if (limits.maxDepth > 0) {
        expect(isExceeded({ ...limits, maxDepth: limits.maxDepth - 1 })).toBe('depth');
        expect(isExceeded({ ...limits, maxMembers: limits.maxMembers - 1 / 16 })).toBe('members');
      }
    }),
  );
});

test('long strings are found, including names, regardless of how the text is split', () => {
  const text = JSON.stringify({
    short: 'x',
    [`"${'n'.repeat(30)}`]: ['é'.repeat(15), '\\'.repeat(15), 'y'.repeat(29)],
  });
  const bytes = Buffer.from(text);
  for (const size of [1, 2, 7, 30, 1_000]) {
    const scan = new JsonScan({}, 30);
    for (let from = 0; from < bytes.length; from += size) scan.add(bytes.subarray(from, from + size));
    expect(scan.longStrings.map(({ from, to }) => bytes.toString('utf8', from, to))).toEqual([
      `\\"${'n'.repeat(30)}`,
      'é'.repeat(15),
      '\\'.repeat(30),
    ]);
  }
});

test('the content of a string longer than the scan buffer is skipped', () => {
  for (const inner of ['[', '{"a":[', '\\', '"', '\\"[', 'é[', '😀"']) {
    const value = { a: inner.repeat(70_000), b: ['x'.repeat(65_535), inner] };
    expect(parseForeignJson(JSON.stringify(value), { maxDepth: 2, maxMembers: 20_000 })).toEqual(value);
  }
});

describe('without limits of the caller', () => {
  test('depth and values are limited', () => {
    expect(parseForeignJson(nested(maxJsonLevels), {})).toEqual(JSON.parse(nested(maxJsonLevels)));
    expect(errorOf(nested(maxJsonLevels + 1)).reason).toBe('depth');
    const maxItems = 4 * maxJsonMembers - 3;
    const list = (items: number) => `[${'0,'.repeat(items - 1)}0]`;
    expect(parseForeignJson(list(maxItems), {})).toHaveLength(maxItems);
    expect(errorOf(list(maxItems + 1)).reason).toBe('members');
  });

  test('strings of escapes are limited', () => {
    expect(parseForeignJson(JSON.stringify('"'.repeat(16 * maxJsonMembers)), {})).toHaveLength(
      16 * maxJsonMembers,
    );
    for (const part of [
      '"',
      '\\',
      '\n',
      'twenty characters and \n',
      '\n and even more than thirty-two of them',
    ]) {
      const text = JSON.stringify({ a: { b: part.repeat(16 * 1_000 + 1) } });
      expect(errorOf(text, { maxMembers: 1_000 }).reason).toBe('members');
      expect(errorOf(Buffer.from(text), { maxMembers: 1_000 }).reason).toBe('members');
    }
  });

  test.each(['[', '{"a":', '[[],', '{"a":{},"b":'])('%s repeated is refused before it is parsed', (part) => {
    expect(errorOf(part.repeat(500_000)).reason).toBe('depth');
  });
});

test('the error names the location', () => {
  const depth = (text: string) => errorOf(text).message;
  expect(depth(`{"options":{"metadata":{"a":${nested(2_000)}}}}`)).toBe(
    'options.metadata.a: nested more than 1000 levels deep; send a flatter value.',
  );
  expect(depth(`{"small":[[[]],"x"],"text":"payload","payload":${nested(1_100)}}`)).toMatch(
    /^payload\.0\.0: nested/,
  );
  expect(depth(nested(200_000))).toMatch(/^0\.0\.0: nested/);
  expect(errorOf('{"a":[{}],"b":{"c":[1,2,3,4]}}', { maxMembers: 8 })).toMatchObject({
    path: 'b.c',
    message: 'b.c: more than 8 members; send less, or send it in parts.',
  });
  expect(errorOf('{"":"secret","b":[[]]}', { maxDepth: 2 }).path).toBe('b.0');
  expect(errorOf('{"":["secret",[]]}', { maxDepth: 2 }).path).toBe('.1');
  expect(errorOf('[1,2]', { maxMembers: 1 }).message).toBe(
    'The JSON: more than 1 members; send less, or send it in parts.',
  );
  expect(errorOf(`{"${'k'.repeat(1_000_000)}":${nested(1_001)}}`).message.length).toBeLessThan(200);
});

test('invalid JSON is a syntax error that does not contain the text', () => {
  for (const text of ['', '{', 'secret', '{"a":secret}', '\uFEFF{}', '[1,]', '"\n"']) {
    expect(errorOf(text)).toMatchObject({ reason: 'syntax', message: 'Invalid JSON' });
  }
  expect(errorOf(Buffer.from([0x22, 0xff, 0x22]))).toMatchObject({
    reason: 'syntax',
    message: 'The JSON is not valid UTF-8',
  });
});
