import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonLine, escapeCell, escapeLine, escapeText } from './terminal-text.ts';

const obeyed = (text: string): string[] =>
  text.match(/[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f]/gu) ?? [];

test('removes all control sequences from any text', () => {
  const texts = fc.string({
    unit: fc.integer({ min: 0, max: 0x2fff }).map((code) => String.fromCodePoint(code)),
  });
  fc.assert(
    fc.property(texts, (text) => {
      expect(obeyed(escapeCell(text))).toEqual([]);
      expect(obeyed(escapeLine(text)).filter((char) => char !== '\t')).toEqual([]);
      expect(obeyed(escapeText(text)).filter((char) => char !== '\t' && char !== '\n')).toEqual([]);
      const line = jsonLine({ [text]: text });
      expect(obeyed(line)).toEqual(['\n']);
      expect(JSON.parse(line)).toEqual({ [text]: text });
    }),
  );
});

test('does not change words of any language or emoji', () => {
  const text = 'Grüße, 你好, مرحبا, 👩‍💻';
  expect([escapeCell(text), escapeLine(text), escapeText(text)]).toEqual([text, text, text]);
});
