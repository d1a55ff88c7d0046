import type { TaskManifest } from '@millrace/contract/runner';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parsePattern } from './pattern.ts';
import { indexSubscriptions, refuseUnreadable } from './subscriptions.ts';
import { numRuns } from '../../../../test/support/long.ts';

const tasksOf = (patterns: readonly string[]): TaskManifest[] =>
  patterns.map((name, n) => ({ id: `${n}`.padStart(4, '0'), filePath: 'tasks.ts', on: { name } }));
const matching = (patterns: readonly string[], name: string): string[] => {
  const tasks = tasksOf(patterns);
  const found = new Set(indexSubscriptions(tasks).matching(name, {}));
  return tasks.filter(({ id }) => found.has(id)).map(({ on }) => on?.name ?? '');
};

/** The expected matches of the index, straight from the definition. */
function meets(pattern: string, name: string): boolean {
  const parts = pattern.split('.');
  const segments = name.split('.');
  const open = parts.at(-1) === '**';
  const fixed = open ? parts.slice(0, -1) : parts;
  if (open ? segments.length <= fixed.length : segments.length !== fixed.length) return false;
  return fixed.every((part, n) => part === '*' || part === segments[n]);
}

describe('patterns', () => {
  test.each([
    ['order.created', ['order.created'], ['order', 'order.created.x', 'Order.created']],
    ['order.*', ['order.created', 'order.*'], ['order', 'order.item.added']],
    ['*.created', ['order.created'], ['created', 'a.b.created']],
    ['order.**', ['order.created', 'order.item.added'], ['order', 'orders.created']],
    ['*', ['order'], ['order.created']],
    ['**', ['order', 'order.item.added', ''], []],
  ])('%s', (pattern, yes, no) => {
    for (const name of yes) expect(matching([pattern], name), name).toEqual([pattern]);
    for (const name of no) expect(matching([pattern], name), name).toEqual([]);
  });

  test.each([
    ['', /is empty/],
    ['a..b', /empty segment/],
    ['a.', /empty segment/],
    ['a.b*', /inside a segment/],
    ['**.a', /before its end/],
    [Array.from({ length: 17 }, () => 'a').join('.'), /more than 16 segments/],
    ['a'.repeat(256), /too long/],
  ])('%s is rejected', (pattern, message) => {
    expect(() => parsePattern(pattern)).toThrow(message);
  });

  test('find exactly the tasks whose pattern matches a name', () => {
    const segment = fc.constantFrom('a', 'b', 'c');
    const name = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('.'));
    const pattern = fc
      .tuple(fc.array(fc.oneof(segment, fc.constant('*')), { maxLength: 4 }), fc.boolean())
      .map(([parts, open]) => (open || parts.length === 0 ? [...parts, '**'] : parts).join('.'));
    fc.assert(
      fc.property(fc.array(pattern, { maxLength: 30 }), name, (patterns, eventName) => {
        expect(matching(patterns, eventName)).toEqual(patterns.filter((each) => meets(each, eventName)));
      }),
      { numRuns: numRuns(500) },
    );
  });
});

test('a filter is evaluated only if the name matches', () => {
  const fieldsRead: string[] = [];
  const payload = new Proxy(
    {},
    { getOwnPropertyDescriptor: (_, field) => void fieldsRead.push(String(field)) },
  );
  const tasks = Array.from({ length: 1_000 }, (_, n): TaskManifest => ({
    id: `t${n}`,
    filePath: 'tasks.ts',
    on: { name: `order.${n}`, filter: { [`field${n}`]: 1 } },
  }));
  expect(indexSubscriptions(tasks).matching('order.7', payload)).toEqual([]);
  expect(fieldsRead).toEqual(['field7']);
});

test('an invalid subscription is rejected by name', () => {
  const wrong = [
    { id: 'mail', filePath: 'tasks/mail.ts', on: { name: 'order.*', filter: { a: { $is: 1 } } } },
  ];
  expect(() => refuseUnreadable(wrong)).toThrow(
    /The task mail in tasks\/mail\.ts has an invalid event subscription: on: filter at a\.\$is is not an operator/,
  );
  expect(() => refuseUnreadable([{ id: 'plain', filePath: 'p.ts' }])).not.toThrow();
});
