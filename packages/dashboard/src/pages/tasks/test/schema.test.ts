import { describe, expect, test } from 'vitest';
import { completeJson } from './complete-json.ts';
import { jsonCursor } from './json-cursor.ts';
import { mismatches } from '../../../parts/schema/mismatches.ts';
import { blankOf, exampleOf, hintOf, kindOf, resolved, schemaAt } from '../../../parts/schema/schema.ts';

const order = {
  type: 'object',
  properties: {
    orderId: { type: 'string', minLength: 3, description: 'of the shop' },
    speed: { enum: ['slow', 'fast'] },
    gift: { type: 'boolean' },
    note: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    lines: { type: 'array', minItems: 1, items: { $ref: '#/$defs/line' } },
  },
  required: ['orderId', 'lines'],
  additionalProperties: false,
  $defs: {
    line: {
      type: 'object',
      properties: { sku: { type: 'string' }, count: { type: 'integer', minimum: 1 } },
      required: ['sku', 'count'],
    },
  },
};

describe('a schema', () => {
  test('builds an example of the required properties', () => {
    expect(exampleOf(order, order)).toEqual({ orderId: '', lines: [{ sku: '', count: 1 }] });
  });

  test('is found along a path, through references and null', () => {
    expect(kindOf(schemaAt(order, ['lines', 0, 'count']))).toBe('integer');
    expect(kindOf(schemaAt(order, ['note']))).toBe('string');
    expect(kindOf(schemaAt(order, ['nothing', 'here']))).toBe('any');
    expect(hintOf(schemaAt(order, ['orderId']))).toBe('of the shop; 3 characters or more');
  });

  test('that refers to itself terminates', () => {
    const circle = { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } };
    expect(kindOf(resolved(circle, circle))).toBe('any');
    const tree = { type: 'object', properties: { left: { $ref: '#' } }, required: ['left'] };
    expect(JSON.stringify(exampleOf(tree, tree)).length).toBeLessThan(100);
  });

  test('lists missing and invalid properties of a payload', () => {
    expect(
      mismatches(order, { orderId: 7, speed: 'x', lines: [{ sku: 'a', count: 1.5 }], extra: 1 }),
    ).toEqual([
      '`orderId` must be a string.',
      '`speed` must be one of "slow", "fast".',
      '`lines[0].count` must be a whole number.',
      '`extra` is not in the schema.',
    ]);
    expect(mismatches(order, {})).toEqual(['`orderId` is required.', '`lines` is required.']);
    expect(mismatches(order, [])).toEqual(['The payload must be an object.']);
    expect(mismatches(order, { orderId: 'abc', lines: [{ sku: 'a', count: 1 }], note: null })).toEqual([]);
  });
});

describe('completion of JSON', () => {
  /** The text has a bar where the cursor is. */
  const completed = (text: string) => {
    const cursor = text.indexOf('|');
    return completeJson(text.replace('|', ''), cursor, order);
  };
  const labels = (text: string) => completed(text).map(({ label }) => label);

  test('offers missing names, the required ones first', () => {
    expect(labels('{"|')).toEqual(['orderId', 'lines', 'speed', 'gift', 'note']);
    expect(labels('{ "orderId": "a", "l|" }')).toEqual(['lines']);
    expect(labels('{ "lines": [ { "sku": "a", | } ] }')).toEqual(['count']);
  });

  test('offers the values of an enum, and nothing without known values', () => {
    expect(labels('{ "speed": |')).toEqual(['"slow"', '"fast"']);
    expect(labels('{ "speed": "f|" }')).toEqual(['"fast"']);
    expect(labels('{ "gift": t|')).toEqual(['true']);
    expect(labels('{ "orderId": "a" | }')).toEqual([]);
  });

  test('inserts a name with an initial value, and places the cursor in it', () => {
    const [first] = completed('{ "ord|" }');
    expect(first).toMatchObject({ text: '{ "orderId": "" }', cursor: '{ "orderId": "'.length });
    expect(completed('{ "sp|": "fast" }')[0]?.text).toBe('{ "speed": "fast" }');
    expect(completed('{ "speed": "sl|ow" }')[0]?.text).toBe('{ "speed": "slow" }');
  });

  test('finds its place in incomplete JSON', () => {
    expect(jsonCursor('{"a": [1, {"b": ', 16)).toMatchObject({ path: ['a', 1, 'b'], expects: 'value' });
    expect(jsonCursor('{"a": "x}{', 10)).toMatchObject({ path: ['a'], expects: 'value', typed: 'x}{' });
    expect(jsonCursor('', 0)).toMatchObject({ path: [], expects: 'value' });
  });
});

test('a blank value has empty texts; everything else must be entered', () => {
  const schema = {
    type: 'object',
    properties: {
      approved: { type: 'boolean' },
      comment: { type: 'string' },
      mail: { type: 'string', format: 'email' },
      amount: { type: 'number' },
      reviewer: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    },
    required: ['approved', 'amount', 'reviewer'],
  };
  const blank = blankOf(schema, schema);
  expect(blank).toEqual({ comment: '', reviewer: { name: '' } });
  expect(mismatches(schema, blank, 'The value')).toEqual([
    '`approved` is required.',
    '`amount` is required.',
  ]);
});
