import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newHandle, cursorHeaders, readHandle, readPosition } from './shape-position.ts';
import { arrayText, Shape } from './shape.ts';

/** Reads an array of texts like clients of the protocol. */
function readArray(text: string): string[] {
  const values: string[] = [];
  for (const [, quoted = ''] of text.matchAll(/"((?:[^"\\]|\\.)*)"/gs)) {
    values.push(quoted.replaceAll(/\\(.)/gs, '$1'));
  }
  return values;
}

test('tags with any characters are encoded correctly', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme' })), (tags) => {
      expect(readArray(arrayText(tags))).toEqual(tags);
    }),
  );
});

test('columns are omitted on request, except those that clients need', () => {
  const names = (shape: Shape) => Object.keys(JSON.parse(shape.schema) as object);
  const needed = ['id', 'taskIdentifier', 'friendlyId', 'status', 'createdAt', 'updatedAt'];
  expect(names(new Shape(undefined, ['payload', 'id', 'nonsense']))).not.toContain('payload');
  expect(names(new Shape([], []))).toEqual(needed);
  expect(names(new Shape(['"output"', 'payload'], ['payload']))).toEqual([...needed, 'output']);
});

test('cursors and handles can be read back, and foreign ones are detected', () => {
  const { offset, cursor } = cursorHeaders('17.4.99');
  expect(readPosition({ offset, cursor })).toEqual({ kind: 'changes', cursor: '17.4.99' });
  expect(readPosition({ offset: '-1' })).toEqual({ kind: 'present', after: '', at: undefined });
  expect(readPosition({ offset: '5_run_a1' })).toEqual({ kind: 'present', after: 'run_a1', at: 5 });
  const handle = newHandle('a shape', 1_234);
  expect([readHandle(handle, 'a shape'), readHandle(handle, 'another')]).toEqual([1_234, undefined]);
  expect(newHandle('a shape', 1_234)).not.toBe(handle);
  fc.assert(
    fc.property(fc.string(), fc.string(), (text, other) => {
      expect(['present', 'changes', 'unknown']).toContain(readPosition({ offset: text, cursor: other }).kind);
      expect(readHandle(text, 'a shape')).toBeUndefined();
    }),
  );
});
