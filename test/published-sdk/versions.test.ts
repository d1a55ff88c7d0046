import type * as Published from '@trigger.dev/sdk';
import { describe, expect, test } from 'vitest';
import { testServer, type TestServer } from '../support/server.ts';
import { versions } from './each-version.ts';
import { promote } from '../support/promote.ts';

type PublishedSdk = typeof Published;

describe.each(versions)('the published SDK %s', (version, load) => {
  /** Old versions cache the first configuration of a process, so each test has its own copy. */
  const withServer = async (act: (sdk: PublishedSdk, server: TestServer) => Promise<void>): Promise<void> => {
    // The members in use have had the same types since 4.0.
    const sdk = (await load()) as PublishedSdk;
    const server = await testServer();
    await sdk.auth.withAuth({ baseURL: server.url, accessToken: server.keys.prod }, () => act(sdk, server));
  };

  test('triggers with every option, and finds the run again', () =>
    withServer(async (sdk, server) => {
      const { body } = await server.ask('/runner/v1/versions', {
        method: 'POST',
        body: { contentHash: 'content-1', tasks: [{ id: 'send', filePath: 't.ts' }] },
      });
      await promote(server.url, server.keys.prod);
      const when = new Date('2026-01-02T03:04:05.678Z');
      const handle = await sdk.tasks.trigger(
        'send',
        { to: 'ada', when },
        {
          queue: 'mail',
          concurrencyKey: 'ada',
          idempotencyKey: 'once',
          idempotencyKeyTTL: '1h',
          delay: '1h',
          ttl: '10m',
          tags: ['b', 'a'],
          maxAttempts: 2,
          maxDuration: 60,
          machine: 'micro',
          priority: 3,
          metadata: { m: 1 },
          version: body.version,
        },
      );
      const run = await sdk.runs.retrieve(handle.id);
      expect(run).toMatchObject({
        id: handle.id,
        status: 'DELAYED',
        taskIdentifier: 'send',
        tags: ['a', 'b'],
        ttl: '10m',
        metadata: { m: 1 },
        version: body.version,
        payload: { to: 'ada', when: when.toISOString() },
      });
      expect(run.delayedUntil).toBeInstanceOf(Date);
      const again = await sdk.tasks.trigger('send', { to: 'bob' }, { idempotencyKey: 'once' });
      expect(again.id).toBe(handle.id);
      const global = await sdk.idempotencyKeys.create('once', { scope: 'global' });
      const sameKey = await sdk.tasks.trigger('send', { to: 'bob' }, { idempotencyKey: global });
      expect(sameKey.id).toBe(handle.id);
    }));

  test('lists, reschedules, cancels and replays', () =>
    withServer(async (sdk) => {
      const handle = await sdk.tasks.trigger('send', 'a text', { delay: '1h', tags: 'mine' });
      const later = await sdk.runs.reschedule(handle.id, { delay: '2h' });
      expect(later.delayedUntil!.getTime()).toBeGreaterThan(Date.now() + 3_600_000);
      const page = await sdk.runs.list({ status: ['DELAYED'], tag: 'mine', limit: 10 });
      expect(page.data.map((run) => run.id)).toEqual([handle.id]);
      expect(await sdk.runs.cancel(handle.id)).toMatchObject({ id: handle.id });
      expect(await sdk.runs.retrieve(handle.id)).toMatchObject({ status: 'CANCELED', isCancelled: true });
      const replayed = await sdk.runs.replay(handle.id);
      expect(replayed.id).not.toBe(handle.id);
      expect((await sdk.runs.retrieve(replayed.id)).payload).toBe('a text');
    }));

  test('triggers batches, of one task and of several', () =>
    withServer(async (sdk, server) => {
      const items = Array.from({ length: 25 }, (_, n) => ({ payload: { n }, options: { tags: [`n${n}`] } }));
      const handle = await sdk.tasks.batchTrigger('send', items);
      expect(handle).toMatchObject({ batchId: expect.stringMatching(/^batch_/), runCount: 25 });
      const found = await sdk.batch.retrieve(handle.batchId);
      expect(found).toMatchObject({ id: handle.batchId, status: 'PENDING', runCount: 25 });
      const payloads = await Promise.all(found.runs.map(async (id) => (await sdk.runs.retrieve(id)).payload));
      expect(payloads).toEqual(items.map((item) => item.payload));
      const listed = await sdk.runs.list({ batch: handle.batchId, limit: 100 });
      expect(listed.data).toHaveLength(25);
      const mixed = await sdk.batch.trigger([
        { id: 'send', payload: 1 },
        { id: 'other', payload: 2 },
      ]);
      const [, other] = (await sdk.batch.retrieve(mixed.batchId)).runs;
      expect((await sdk.runs.retrieve(other!)).taskIdentifier).toBe('other');
      // The token of the handle gives access to the batch, whether the SDK or the server signed it.
      const { status } = await server.ask(`/api/v2/batches/${handle.batchId}`, {
        key: handle.publicAccessToken,
      });
      expect(status).toBe(200);
    }));

  test.skipIf(version === '4.0')('gives a batch an idempotency key, and resets the key of a run', () =>
    withServer(async (sdk) => {
      const key = await sdk.idempotencyKeys.create('daily', { scope: 'global' });
      const items = [{ payload: 1 }, { payload: 2 }];
      const first = await sdk.tasks.batchTrigger('send', items, { idempotencyKey: key });
      const second = await sdk.tasks.batchTrigger('send', items, { idempotencyKey: key });
      expect(second.batchId).toBe(first.batchId);
      const run = await sdk.tasks.trigger('send', 1, { idempotencyKey: key });
      await sdk.idempotencyKeys.reset('send', key);
      expect((await sdk.tasks.trigger('send', 1, { idempotencyKey: key })).id).not.toBe(run.id);
    }),
  );
});
