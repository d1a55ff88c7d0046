import { describe, expect, test } from 'vitest';
import { jsonRows, opening, pathText, type Opened } from './rows.ts';

const closed: Opened = { toggled: new Set(), pieces: new Map(), depth: 1 };
const names = (value: unknown, opened = closed) =>
  jsonRows(value, opened).map((row) => (row.kind === 'more' ? `+${row.left}` : row.name));

describe('the lines of a JSON value', () => {
  test('are its members, with deeper levels collapsed', () => {
    expect(names({ a: 1, b: { c: 2 }, d: [] })).toEqual([undefined, 'a', 'b', 'd']);
  });

  test('of a list of a hundred thousand are the first hundred and one with the number that follow', () => {
    const rows = names(Array.from({ length: 100_000 }, (_, index) => index));
    expect(rows).toHaveLength(102);
    expect(rows.at(-1)).toBe('+99900');
  });

  test('of a scalar is one', () => {
    expect(names('text')).toEqual([undefined]);
    expect(names(null)).toEqual([undefined]);
  });
});

test('the ancestors of a member are expanded as far as needed', () => {
  const value = { order: { items: Array.from({ length: 300 }, (_, sku) => ({ sku })) } };
  const rows = jsonRows(value, opening(closed, value, ['order', 'items', 250, 'sku']));
  expect(rows.some((row) => row.kind === 'value' && pathText(row.path) === 'order.items[250].sku')).toBe(
    true,
  );
});

test('a path has the form of JavaScript code', () => {
  expect(pathText(['a', 'b-c', 0, 'd'])).toBe('a["b-c"][0].d');
});
