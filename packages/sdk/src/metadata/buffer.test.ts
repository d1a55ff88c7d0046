import * as fc from 'fast-check';
import { applyOperations, type Metadata } from '@millrace/contract/metadata';
import { maxJsonLevels, type MetadataOperation } from '@millrace/contract';
import { expect, test } from 'vitest';
import { MetadataBuffer, MetadataRefused, type MetadataChanges } from './buffer.ts';
import { numRuns } from '../../../../test/support/long.ts';

/** A buffer with a fake server that stores changes, or fails a given number of times. */
function buffered(initial: string | null = null) {
  const sent: MetadataChanges[] = [];
  const warned: string[] = [];
  const failures: Error[] = [];
  let stored: Metadata = JSON.parse(initial ?? '{}') as Metadata;
  const buffer = new MetadataBuffer({
    initial,
    warn: (sentence) => void warned.push(sentence),
    async send(changes) {
      await new Promise((resolve) => setImmediate(resolve));
      const failure = failures.shift();
      if (failure) throw failure;
      sent.push(structuredClone(changes));
      stored = applyOperations(stored, changes.operations ?? []);
      return structuredClone(stored);
    },
  });
  return { buffer, sent, warned, failures, stored: () => stored };
}

const set = (key: string, value: unknown): MetadataOperation => ({ type: 'set', key, value });

test('changes apply immediately and are sent together, in order', async () => {
  const { buffer, sent } = buffered('{"n":1}');
  buffer.change('operations', set('a', [1]));
  buffer.change('operations', { type: 'append', key: 'a', value: 2 });
  buffer.change('operations', { type: 'increment', key: 'n', value: 2 });
  buffer.change('parentOperations', { type: 'increment', key: 'done', value: 1 });
  expect(buffer.current()).toEqual({ a: [1, 2], n: 3 });
  expect(sent).toEqual([]);
  await buffer.end();
  expect(sent).toEqual([
    {
      operations: [
        set('a', [1]),
        { type: 'append', key: 'a', value: 2 },
        { type: 'increment', key: 'n', value: 2 },
      ],
      parentOperations: [{ type: 'increment', key: 'done', value: 1 }],
    },
  ]);
});

test('are sent automatically a second later', async () => {
  const { buffer, sent } = buffered();
  buffer.change('operations', set('a', 1));
  await expect.poll(() => sent.length, { timeout: 20_000 }).toBe(1);
});

test('changes made while others are being sent are sent before the end', async () => {
  const { buffer, sent, warned } = buffered();
  buffer.change('operations', set('step', 1));
  const first = buffer.flush();
  buffer.change('operations', set('step', 2));
  await Promise.all([first, buffer.end()]);
  expect([sent.length, warned]).toEqual([2, []]);
  expect(sent.at(-1)?.operations).toEqual([set('step', 2)]);
});

test('changes that could not be sent are resent, and applied once', async () => {
  const { buffer, sent, failures, warned } = buffered();
  failures.push(new Error('away'));
  buffer.change('operations', { type: 'increment', key: 'n', value: 1 });
  await buffer.flush();
  buffer.change('operations', { type: 'increment', key: 'n', value: 1 });
  await buffer.end();
  expect(sent).toHaveLength(1);
  expect(sent[0]?.operations).toHaveLength(2);
  expect([buffer.current(), warned]).toEqual([{ n: 2 }, []]);
  failures.push(new Error('away'));
  buffer.change('operations', set('a', 1));
  await buffer.end();
  expect(warned).toEqual([expect.stringMatching(/1 metadata changes were lost/)]);
});

test("a rejection for the parent does not discard the run's own changes", async () => {
  const { buffer, sent, failures, warned } = buffered();
  const refusal = new MetadataRefused('parent is full');
  failures.push(refusal);
  buffer.change('operations', set('a', 1));
  buffer.change('parentOperations', set('b', 1));
  const ended = buffer.end();
  await expect.poll(() => sent.length).toBeGreaterThan(0);
  await ended;
  expect(sent).toEqual([{ operations: [set('a', 1)] }, { parentOperations: [set('b', 1)] }]);
  failures.push(refusal);
  buffer.change('operations', set('a', 2));
  await buffer.end();
  expect(warned).toEqual(['Metadata changes were rejected: parent is full']);
});

test('a change that exceeds the limit is rejected at its call, and changes nothing', async () => {
  const { buffer, sent } = buffered();
  buffer.change('operations', set('a', 'x'.repeat(200_000)));
  expect(() => buffer.change('operations', set('b', 'x'.repeat(80_000)))).toThrow(
    /the limit is 262144 bytes/,
  );
  expect(Object.keys(buffer.current())).toEqual(['a']);
  // Replacing a value frees its space.
  buffer.change('operations', set('a', 1));
  buffer.change('operations', set('b', 'x'.repeat(80_000)));
  await buffer.end();
  expect(sent[0]?.operations).toHaveLength(3);
});

test('rejects keys that touch the prototype, and amounts that are not numbers', () => {
  const { buffer } = buffered();
  for (const key of ['__proto__', '$.a.constructor', '$.x.prototype.y']) {
    expect(() => buffer.change('operations', set(key, 1))).toThrow(/not a valid metadata name/);
  }
  const add = (value: unknown) =>
    buffer.change('operations', { type: 'increment', key: 'n', value: value as number });
  for (const wrong of [Number.NaN, 'one', undefined]) expect(() => add(wrong)).toThrow(/finite number/);
  buffer.change('operations', set('a', 1));
  buffer.change('operations', set('a', undefined));
  expect(buffer.current()).toEqual({});
});

test('a value that is nested too deeply is rejected at its call', async () => {
  const { buffer, sent } = buffered();
  const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));
  for (const levels of [maxJsonLevels + 1, 3_000, 100_000]) {
    for (const type of ['set', 'append'] as const)
      expect(() => buffer.change('operations', { type, key: 'deep', value: nested(levels) })).toThrow(
        /^The metadata\.deep cannot be serialized as JSON: metadata\.deep.{1,250} is nested more than 1000 levels deep/,
      );
    expect(() => buffer.change('operations', { type: 'update', value: { a: nested(levels) } })).toThrow(
      /nested more than 1000 levels deep/,
    );
  }
  const circle: unknown[] = [];
  circle.push(circle);
  expect(() => buffer.change('operations', set('circle', circle))).toThrow(/circular/);
  buffer.change('operations', set('deep', nested(maxJsonLevels - 1)));
  await buffer.end();
  expect(sent).toHaveLength(1);
});

test("its state equals the server's once everything is sent", async () => {
  const key = fc.constantFrom('a', 'b', '$.a.c', '$.b[1]');
  const value = fc.oneof(
    fc.integer(),
    fc.array(fc.integer(), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('c', 'd'), fc.integer()),
  );
  const operation: fc.Arbitrary<MetadataOperation> = fc.oneof(
    fc.record({ type: fc.constant('set' as const), key, value }),
    fc.record({ type: fc.constant('append' as const), key, value }),
    fc.record({ type: fc.constant('remove' as const), key, value }),
    fc.record({ type: fc.constant('delete' as const), key }),
    fc.record({ type: fc.constant('increment' as const), key, value: fc.integer() }),
    fc.record({
      type: fc.constant('update' as const),
      value: fc.dictionary(fc.constantFrom('a', 'b'), fc.integer()),
    }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(operation, fc.constant('flush' as const)), { maxLength: 30 }),
      async (steps) => {
        const { buffer, stored } = buffered();
        const flushes: Promise<void>[] = [];
        for (const step of steps) {
          if (step === 'flush') flushes.push(buffer.flush());
          else buffer.change('operations', step);
        }
        await Promise.all([...flushes, buffer.end()]);
        expect(JSON.stringify(buffer.current())).toBe(JSON.stringify(stored()));
      },
    ),
    { numRuns: numRuns(200) },
  );
});
