import fc from 'fast-check';
import { expect, test } from 'vitest';
import { storableJson, storableText } from './storable.ts';

test('leaves storable values unchanged', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      fc.pre(!text.includes('\0'));
      expect(storableText(text)).toBe(text);
      expect(JSON.parse(storableJson({ text }))).toEqual({ text });
    }),
  );
});

test('replaces NUL and lone surrogates', () => {
  expect(storableText('a\0b')).toBe('a\uFFFDb');
  expect(storableJson({ message: 'a\0b\uD800c\uDC00' })).toBe('{"message":"a\\ufffdb\\ufffdc\\ufffd"}');
  expect(JSON.parse(storableJson({ pair: '\u{1F600}' }))).toEqual({ pair: '\u{1F600}' });
});
