import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileFilter } from './filter.ts';
import { SubscriptionRefused } from './pattern.ts';

const matches = (filter: unknown, payload: unknown): boolean => compileFilter(filter)(payload);

describe('a filter', () => {
  test.each([
    [{ plan: 'pro' }, { plan: 'pro', other: 1 }, true],
    [{ plan: 'pro' }, { plan: 'PRO' }, false],
    [{ plan: 'pro' }, {}, false],
    [{ n: 1 }, { n: '1' }, false],
    [{ gone: null }, { gone: null }, true],
    [{ gone: null }, {}, false],
    [{ a: 1, b: 2 }, { a: 1, b: 3 }, false],
    [{ customer: { country: 'FR' } }, { customer: { country: 'FR' } }, true],
    [{ customer: { country: 'FR' } }, { customer: 'FR' }, false],
    [{ customer: { country: { $in: ['FR', 'BE'] } } }, { customer: { country: 'BE' } }, true],
    [{ n: { $in: [1, 2] } }, { n: 3 }, false],
    [{ n: { $nin: [1, 2] } }, { n: 3 }, true],
    [{ n: { $nin: [1, 2] } }, {}, true],
    [{ n: { $ne: 1 } }, {}, true],
    [{ n: { $ne: 1 } }, { n: 1 }, false],
    [{ n: { $eq: 1 } }, { n: 1 }, true],
    [{ n: { $gte: 100, $lt: 1_000 } }, { n: 100 }, true],
    [{ n: { $gte: 100, $lt: 1_000 } }, { n: 1_000 }, false],
    [{ n: { $gt: 100 } }, { n: 100 }, false],
    [{ n: { $lte: 100 } }, { n: '5' }, false],
    [{ at: { $gte: '2026-01-01' } }, { at: '2026-01-02T00:00:00Z' }, true],
    [{ sku: { $prefix: 'book-' } }, { sku: 'book-1' }, true],
    [{ sku: { $prefix: 'book-' } }, { sku: ['book-1'] }, false],
    [{ tags: { $contains: 'vip' } }, { tags: ['a', 'vip'] }, true],
    [{ tags: { $contains: 'vip' } }, { tags: 'vip' }, false],
    [{ x: { $exists: true } }, { x: null }, true],
    [{ x: { $exists: false } }, {}, true],
    [{ x: { $exists: false } }, { x: 0 }, false],
    [{ x: { y: { $exists: false } } }, { x: {} }, true],
    [{ x: { y: { $exists: false } } }, {}, false],
    [{}, {}, true],
    [{}, 'text', true],
    [undefined, 'text', true],
    [{ 'a.b': 1 }, { 'a.b': 1 }, true],
    [{ constructor: { $exists: true } }, {}, false],
    [{ length: 4 }, 'text', false],
    [{ length: { $exists: true } }, [], false],
  ])('%j on %j is %s', (filter, payload, expected) => {
    expect(matches(filter, payload)).toBe(expected);
  });

  test.each([
    ['text', /filter must be an object of fields/],
    [['a'], /filter must be an object/],
    [{ a: ['x'] }, /filter at a must be .*"\$in"/],
    [{ a: { $is: 1 } }, /filter at a\.\$is is not an operator; the operators are \$eq/],
    [{ $or: [] }, /filter at \$or is an operator where a field should be/],
    [{ a: { $gt: 1, b: 2 } }, /filter at a mixes operators and fields/],
    [{ a: { $gt: true } }, /filter at a\.\$gt must be a number or a string/],
    [{ a: { $in: 'x' } }, /filter at a\.\$in must be a list/],
    [{ a: { $in: [{}] } }, /filter at a\.\$in must be a list/],
    [{ a: { $in: Array.from({ length: 201 }, (_, n) => n) } }, /more than 200 choices/],
    [{ a: { $exists: 'yes' } }, /must be true or false/],
    [{ a: { $prefix: 1 } }, /must be a string/],
    [{ a: { b: { c: { d: { e: { f: { g: { h: { i: 1 } } } } } } } } }, /nested more than 8 deep/],
    [Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`f${n}`, n])), /at most 100 conditions/],
  ])('%j is rejected', (filter, message) => {
    expect(() => compileFilter(filter)).toThrow(SubscriptionRefused);
    expect(() => compileFilter(filter)).toThrow(message);
  });

  const scalar = fc.oneof(
    fc.string(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
  );
  const field = fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor');

  test('returns the same result every time for any payload', () => {
    const operator = fc.oneof(
      fc.record({ $in: fc.array(scalar, { maxLength: 5 }) }),
      fc.record({ $gt: fc.oneof(fc.string(), fc.integer()) }),
      fc.record({ $ne: scalar }),
      fc.record({ $exists: fc.boolean() }),
      fc.record({ $prefix: fc.string() }),
      fc.record({ $contains: scalar }),
    );
    const filter = fc.letrec((tie) => ({
      fields: fc.dictionary(field, fc.oneof(scalar, operator, tie('fields')), {
        maxKeys: 3,
        depthIdentifier: 'f',
      }),
    })).fields;
    fc.assert(
      fc.property(filter, fc.jsonValue(), (each, payload) => {
        const copy = JSON.stringify(payload);
        let compiled;
        try {
          compiled = compileFilter(each);
        } catch (error) {
          expect(error).toBeInstanceOf(SubscriptionRefused);
          return;
        }
        expect(compiled(payload)).toBe(compiled(payload));
        expect(JSON.stringify(payload)).toBe(copy);
      }),
    );
  });

  test('is equivalent to the conjunction of its operators', () => {
    const payload = fc.dictionary(field, fc.oneof(scalar, fc.array(scalar)));
    fc.assert(
      fc.property(payload, field, fc.oneof(fc.string(), fc.integer()), (data, name, bound) => {
        const isMatch = (condition: unknown) =>
          matches(JSON.parse(`{${JSON.stringify(name)}:${JSON.stringify(condition)}}`), data);
        const value = Object.hasOwn(data, name) ? data[name] : undefined;
        expect(isMatch(bound)).toBe(value === bound);
        expect(isMatch({ $eq: bound })).toBe(isMatch(bound));
        expect(isMatch({ $ne: bound })).toBe(!isMatch(bound));
        expect(isMatch({ $in: [bound] })).toBe(isMatch(bound));
        expect(isMatch({ $nin: [bound] })).toBe(!isMatch(bound));
        expect(isMatch({ $gte: bound })).toBe(isMatch({ $gt: bound }) || isMatch(bound));
        expect(isMatch({ $lte: bound })).toBe(isMatch({ $lt: bound }) || isMatch(bound));
        expect(isMatch({ $gt: bound }) && isMatch({ $lt: bound })).toBe(false);
        expect(isMatch({ $gt: bound, $exists: true })).toBe(isMatch({ $gt: bound }));
        expect(isMatch({ $gte: bound }) || isMatch({ $lt: bound })).toBe(typeof value === typeof bound);
      }),
    );
  });
});
