import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lockWaiters } from '../../../../../test/support/locks.ts';
import type { Transaction } from '../../db/connect.ts';
import { createRedactor } from '../../envvars/redact/redactor.ts';
import { testEngine } from '../testing/engine.ts';
import { changeMetadata, readMetadata } from './metadata.ts';
import { applyOperations, refusedKey } from '@millrace/contract/metadata';

describe('operations', () => {
  test('set, append, remove, delete, increment and update in order', () => {
    const before = { n: 1, list: ['a'], word: 'x' };
    const after = applyOperations(before, [
      { type: 'set', key: 'word', value: 'y' },
      { type: 'append', key: 'list', value: ['b'] },
      { type: 'append', key: 'list', value: 'c' },
      { type: 'remove', key: 'list', value: ['b'] },
      { type: 'append', key: 'word', value: 'z' },
      { type: 'append', key: 'new', value: 1 },
      { type: 'increment', key: 'n', value: 2 },
      { type: 'increment', key: 'm', value: -1 },
      { type: 'remove', key: 'n', value: 3 },
    ]);
    expect(after).toEqual({ n: 3, list: ['a', 'c'], word: ['y', 'z'], new: [1], m: -1 });
    expect(before).toEqual({ n: 1, list: ['a'], word: 'x' });
    expect(
      applyOperations(after, [
        { type: 'delete', key: 'list' },
        { type: 'delete', key: 'none' },
      ]),
    ).not.toHaveProperty('list');
    expect(applyOperations(after, [{ type: 'update', value: { only: 1 } }])).toEqual({ only: 1 });
  });

  test('change nested values by path, and create missing ones', () => {
    expect(
      applyOperations({ a: { b: [1, { c: 1 }] } }, [
        { type: 'increment', key: '$.a.b[1].c', value: 1 },
        { type: 'set', key: '$.x[1].y', value: true },
        { type: 'append', key: '$.a.b', value: 3 },
        { type: 'delete', key: '$.a.b[0]' },
        { type: 'set', key: 'a.b', value: 'a name' },
      ]),
    ).toEqual({ a: { b: [{ c: 2 }, 3] }, x: [undefined, { y: true }], 'a.b': 'a name' });
  });

  test.each([
    '__proto__',
    'constructor',
    'prototype',
    '$.a.__proto__.b',
    '$.__proto__[0]',
    '$.a[0].constructor',
  ])('reject the key %s', (key) => {
    expect(refusedKey(key)).toMatch(/not a valid metadata name/);
  });

  test('reject paths that are too deep and lists that are too long', () => {
    expect(refusedKey(`$.${'a.'.repeat(40)}`)).toMatch(/at most 32 parts/);
    expect(refusedKey('$.a[10000]')).toMatch(/at most 10000 items/);
    expect(refusedKey('$.a[9999]')).toBeUndefined();
  });

  test('never change the prototype of objects, for any key', () => {
    const part = fc.oneof(
      fc.constantFrom('__proto__', 'constructor', 'prototype', 'toString', 'a', '[0]'),
      fc.string(),
    );
    const key = fc.oneof(
      part,
      fc.array(part).map((parts) => `$.${parts.join('.')}`),
    );
    fc.assert(
      fc.property(
        key,
        fc.constantFrom(
          'set' as const,
          'append' as const,
          'remove' as const,
          'increment' as const,
          'delete' as const,
        ),
        (name, type) => {
          if (name === '' || refusedKey(name) !== undefined) return;
          const after = applyOperations({ a: { b: 1 } }, [{ type, key: name, value: 1 }]);
          expect(Object.getPrototypeOf(after)).toBe(Object.prototype);
          expect(Object.keys(Object.prototype)).toEqual([]);
          expect(Object.prototype.toString.call({})).toBe('[object Object]');
          JSON.stringify(after);
        },
      ),
    );
  });
});

describe('the metadata of a run', () => {
  test('is replaced and changed, including parent and root', async () => {
    const t = await testEngine();
    await t.register('send');
    const env = t.environment.id;
    const root = await t.trigger('send', { metadata: { done: 0 } });
    const parent = await t.trigger('send', { parentRunId: root.id });
    const self = await t.trigger('send', { parentRunId: parent.id, metadata: { old: 1 } });
    const change = {
      metadata: { a: 1 },
      operations: [{ type: 'set', key: 'k', value: 1 } as const],
      parentOperations: [{ type: 'append', key: 'children', value: self.id } as const],
      rootOperations: [{ type: 'increment', key: 'done', value: 1 } as const],
    };
    expect(await changeMetadata(t.engine, env, self.id, change)).toEqual({ a: 1, k: 1 });
    expect(await readMetadata(t.engine, env, parent.id)).toEqual({ children: [self.id] });
    expect(await readMetadata(t.engine, env, root.id)).toEqual({ done: 1 });
    expect(await changeMetadata(t.engine, env, root.id, { rootOperations: change.rootOperations })).toEqual({
      done: 2,
    });
    expect(await readMetadata(t.engine, env, 'run_unknown')).toBeUndefined();
  });

  test('loses no increments from concurrent children', async () => {
    const t = await testEngine();
    await t.register('send');
    const env = t.environment.id;
    const parent = await t.trigger('send');
    const children = await Promise.all(
      Array.from({ length: 8 }, () => t.trigger('send', { parentRunId: parent.id })),
    );
    const operations = [{ type: 'increment', key: 'n', value: 1 } as const];
    await Promise.all(
      children.flatMap((child) => [
        changeMetadata(t.engine, env, child.id, { operations, parentOperations: operations }),
        changeMetadata(t.engine, env, parent.id, { operations }),
      ]),
    );
    expect(await readMetadata(t.engine, env, parent.id)).toEqual({ n: 16 });
  });

  test('is eventually changed even if another transaction locks a run and then its parent', async () => {
    const t = await testEngine();
    await t.register('send');
    const env = t.environment.id;
    const parent = await t.trigger('send');
    const child = await t.trigger('send', { parentRunId: parent.id });
    const lock = (tx: Transaction, run: string) =>
      tx`select from runs where env = ${env} and id = ${run} for no key update`;
    const operations = [{ type: 'increment', key: 'n', value: 1 } as const];
    let changed: Promise<unknown> | undefined;
    await t.sql.begin(async (tx) => {
      await lock(tx, child.id);
      changed = changeMetadata(t.engine, env, child.id, { operations, parentOperations: operations });
      await expect.poll(() => lockWaiters(t.sql), { timeout: 20_000 }).toHaveLength(1);
      // The change waits longer, so PostgreSQL aborts it rather than this transaction.
      await lock(tx, parent.id);
    });
    expect(await changed).toEqual({ n: 1 });
    expect(await readMetadata(t.engine, env, parent.id)).toEqual({ n: 1 });
  });

  test('is immutable once the run has ended, unlike that of its parent', async () => {
    const t = await testEngine();
    const { id: version } = await t.register('send');
    const env = t.environment.id;
    await t.addRunner('r');
    const parent = await t.trigger('send', { metadata: { n: 1 } });
    const [attempt] = await t.claim('r', [version], 1);
    const child = await t.trigger('send', { parentRunId: parent.id });
    await t.end(attempt!);
    const operations = [{ type: 'increment', key: 'n', value: 1 } as const];
    await expect(changeMetadata(t.engine, env, parent.id, { operations })).rejects.toMatchObject({
      status: 422,
    });
    await changeMetadata(t.engine, env, child.id, { operations, parentOperations: operations });
    expect(await readMetadata(t.engine, env, parent.id)).toEqual({ n: 1 });
    expect(await readMetadata(t.engine, env, child.id)).toEqual({ n: 1 });
  });

  test('has a size limit, excludes secrets, and names a rejected operation', async () => {
    const t = await testEngine();
    await t.register('send');
    const env = t.environment.id;
    const { id } = await t.trigger('send', { metadata: { stored: 1 } });
    const big = { metadata: { big: 'x'.repeat(262_144) } };
    await expect(changeMetadata(t.engine, env, id, big)).rejects.toMatchObject({ status: 413 });
    const rootOperations = [
      { type: 'set', key: 'a', value: 1 } as const,
      { type: 'delete', key: '$.__proto__.x' } as const,
    ];
    await expect(changeMetadata(t.engine, env, id, { rootOperations })).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/^rootOperations\[1\]\.key: /),
    });
    expect(await readMetadata(t.engine, env, id)).toEqual({ stored: 1 });
    const redactor = createRedactor(['sentinel-secret-value']);
    const result = await changeMetadata(
      t.engine,
      env,
      id,
      { metadata: { key: 'my sentinel-secret-value' } },
      redactor,
    );
    expect(JSON.stringify(result)).not.toContain('sentinel');
  });
});

test('can be changed only by the current attempt', async () => {
  const t = await testEngine();
  const env = t.environment.id;
  const version = await t.register('send');
  const { id } = await t.trigger('send');
  await t.addRunner('r1');
  const [first] = await t.claim('r1', [version.id], 1);
  const change = (fence: number, value: string) =>
    changeMetadata(t.engine, env, id, { fence, operations: [{ type: 'set', key: 'by', value }] });
  expect(await change(first!.fence, 'first')).toEqual({ by: 'first' });
  await t.end(first!, { kind: 'released' });
  await expect(change(first!.fence, 'nobody')).rejects.toMatchObject({ status: 409 });
  const [second] = await t.claim('r1', [version.id], 1);
  await expect(change(first!.fence, 'stale')).rejects.toMatchObject({ status: 409 });
  expect(await change(second!.fence, 'second')).toEqual({ by: 'second' });
});
