import { createHash } from 'node:crypto';
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  batch,
  configure,
  idempotencyKeys,
  NotFoundError,
  runs,
  task,
  tasks,
  UnprocessableEntityError,
  UnserializableError,
} from '@millrace/sdk';
import { beforeEach, describe, expect, test } from 'vitest';
import { runScopes } from '../../packages/sdk/src/run-scope.ts';
import { sharedServer, type SharedServer } from '../support/shared-server.ts';

const send = task({ id: 'send', run: async (payload: { n: number }) => payload.n });
const plain = task({ id: 'plain', run: async () => 'done' });

let server: SharedServer;
beforeEach(async () => {
  server = await sharedServer();
  configure({ baseURL: server.url, secretKey: server.keys.prod, retry: { maxAttempts: 1 } });
});
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const payloadsOf = (ids: readonly string[]) =>
  Promise.all(ids.map(async (id) => (await runs.retrieve(id)).payload));

describe('an SDK batch', () => {
  test('contains runs of one task, by the task or its id', async () => {
    const items = Array.from({ length: 30 }, (_, n) => ({
      payload: { n },
      options: { tags: [`t${n % 2}`] },
    }));
    const handle = await send.batchTrigger(items);
    expect(handle).toMatchObject({
      batchId: expect.stringMatching(/^batch_/),
      runCount: 30,
      isCached: false,
    });
    const found = await batch.retrieve(handle.batchId);
    expect(found).toMatchObject({ status: 'PENDING', runCount: 30, createdAt: expect.any(Date) });
    expect(found.processing.completedAt).toBeInstanceOf(Date);
    expect(await payloadsOf(found.runs)).toEqual(items.map((item) => item.payload));
    const byId = await tasks.batchTrigger<typeof plain>('plain', [{}, { options: { delay: '1h' } }]);
    const [, later] = (await batch.retrieve(byId.batchId)).runs;
    expect((await runs.retrieve(later!)).status).toBe('DELAYED');
    // The handle's token opens only the batch and its runs.
    const { status } = await server.ask(`/api/v2/batches/${handle.batchId}`, {
      key: handle.publicAccessToken!,
    });
    const other = await server.ask(`/api/v2/batches/${byId.batchId}`, { key: handle.publicAccessToken! });
    expect([status, other.status]).toEqual([200, 403]);
  });

  test('contains runs of several tasks, with payloads of every kind', async () => {
    const when = new Date(7);
    const { batchId } = await batch.triggerByTask([{ task: send, payload: { n: 1 } }, { task: plain }]);
    const ids = (await batch.retrieve(batchId)).runs;
    expect((await runs.retrieve(ids[1]!)).taskIdentifier).toBe('plain');
    const large = 'x'.repeat(100_000);
    const mixed = await batch.trigger([
      { id: 'any', payload: 'text' },
      { id: 'any', payload: { when } },
      { id: 'other', payload: { large } },
    ]);
    const payloads = await payloadsOf((await batch.retrieve(mixed.batchId)).runs);
    expect(payloads).toEqual(['text', { when: when.toISOString() }, { large }]);
  });

  test('is sent in several uploads when it is large', async () => {
    const pad = 'x'.repeat(100_000);
    const { batchId } = await tasks.batchTrigger(
      'any',
      Array.from({ length: 90 }, (_, n) => ({ payload: { n, pad } })),
    );
    expect((await batch.retrieve(batchId)).runs).toHaveLength(90);
  });

  test('leaves nothing behind when an item cannot be written, and starts nothing when one is rejected', async () => {
    await expect(tasks.batchTrigger('any', [{ payload: 1 }, { payload: () => 1 }])).rejects.toThrow(
      UnserializableError,
    );
    await expect(
      tasks.batchTrigger('any', [
        { payload: 1 },
        { payload: 2, options: { tags: Array.from({ length: 11 }, (_, n) => `${n}`) } },
      ]),
    ).rejects.toThrow(UnprocessableEntityError);
    expect(await tasks.batchTrigger('any', [])).toMatchObject({ batchId: '', runCount: 0 });
    const live = (await runs.list({ status: 'PENDING_VERSION' })).data;
    expect(live).toEqual([]);
    await expect(batch.retrieve('batch_x')).rejects.toThrow(NotFoundError);
  });

  test('is created once for a key', async () => {
    const first = await send.batchTrigger([{ payload: { n: 1 } }], { idempotencyKey: 'daily' });
    const second = await send.batchTrigger([{ payload: { n: 2 } }], { idempotencyKey: 'daily' });
    expect(second).toMatchObject({ batchId: first.batchId, isCached: true });
    expect((await batch.retrieve(first.batchId)).idempotencyKey).toBe('daily');
  });
});

describe('SDK idempotency keys', () => {
  test('are the digest of their parts and their scope', async () => {
    const scopes = runScopes(() => new AsyncLocalStorage());
    const inRun = <R>(act: () => Promise<R>) => scopes.run({ run: 'run_p', attempt: 3, onLog() {} }, act);
    expect(await idempotencyKeys.create(['a', 'b'])).toBe(sha256('a-b'));
    for (const empty of ['', [], ['']])
      await expect(idempotencyKeys.create(empty)).rejects.toThrow('must not be empty');
    expect(await inRun(() => idempotencyKeys.create('a'))).toBe(sha256('a-run_p'));
    expect(await inRun(() => idempotencyKeys.create('a', { scope: 'attempt' }))).toBe(sha256('a-run_p-3'));
    expect(await inRun(() => idempotencyKeys.create('a', { scope: 'global' }))).toBe(sha256('a'));
  });

  test('resolve to one run in either form, until they are reset', async () => {
    const key = await idempotencyKeys.create('order-1', { scope: 'global' });
    const first = await plain.trigger(undefined, { idempotencyKey: key });
    const again = await plain.trigger(undefined, { idempotencyKey: 'order-1' });
    expect(again).toMatchObject({ id: first.id, isCached: true });
    expect((await runs.retrieve(first.id)).idempotencyKey).toBe('order-1');
    await expect(idempotencyKeys.reset('send', key)).rejects.toThrow(NotFoundError);
    expect(await idempotencyKeys.reset('plain', 'order-1', { scope: 'global' })).toEqual({ id: key });
    const next = await plain.trigger(undefined, { idempotencyKey: key });
    expect(next).toMatchObject({ isCached: false });
    await expect(idempotencyKeys.reset('plain', 'never')).rejects.toThrow(NotFoundError);
  });

  test('are sent with their parts, and debounced triggers resolve to one run', async () => {
    const debounce = { key: 'k', delay: '1h', mode: 'trailing' as const };
    const batches = [];
    for (const n of [1, 2, 3]) batches.push(await send.trigger({ n }, { debounce }));
    expect(new Set(batches.map((handle) => handle.id)).size).toBe(1);
    expect((await runs.retrieve(batches[0]!)).payload).toEqual({ n: 3 });
    expect(await runs.reason(batches[0]!)).toMatchObject({ reason: 'debounce' });
  });
});
