import { expect, test } from 'vitest';
import { optionChanges } from './option-changes.ts';

test('reports each changed, added and removed member by its path, with both values', () => {
  expect(
    optionChanges(
      {
        id: 'a',
        retry: { maxAttempts: 3, factor: 2 },
        ttl: 60,
        queue: { name: 'mail', concurrencyLimit: null },
      },
      {
        queue: { concurrencyLimit: 5, name: 'mail' },
        id: 'a',
        retry: { factor: 2, maxAttempts: 5 },
        on: { name: 'x' },
      },
    ),
  ).toEqual([
    { field: 'on', after: { name: 'x' } },
    { field: 'queue.concurrencyLimit', before: null, after: 5 },
    { field: 'retry.maxAttempts', before: 3, after: 5 },
    { field: 'ttl', before: 60 },
  ]);
});

test('a list is one value, the order of members makes no difference, and null differs from a missing member', () => {
  expect(optionChanges({ requires: ['gpu'] }, { requires: ['gpu', 'ssd'] })).toEqual([
    { field: 'requires', before: ['gpu'], after: ['gpu', 'ssd'] },
  ]);
  expect(optionChanges({ a: [{ x: 1, y: 2 }] }, { a: [{ y: 2, x: 1 }] })).toEqual([]);
  expect(optionChanges({ a: null }, {})).toEqual([{ field: 'a', before: null }]);
});

test('names of built-in members are names like others', () => {
  const hostile = JSON.parse('{"__proto__": {"a": 1}, "constructor": 2}') as Record<string, unknown>;
  expect(optionChanges({}, hostile)).toEqual([
    { field: '__proto__', after: { a: 1 } },
    { field: 'constructor', after: 2 },
  ]);
});
