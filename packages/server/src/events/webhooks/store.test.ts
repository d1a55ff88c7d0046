import fc from 'fast-check';
import { expect, test } from 'vitest';
import { numRuns } from '../../../../../test/support/long.ts';
import { newTimedId } from '../../db/ids.ts';
import { testEngine } from '../../runs/testing/engine.ts';
import { prepareWebhookRun } from './prepare.ts';
import { webhookPruner } from './prune.ts';
import { createStore, type NewDelivery } from './store.ts';

const dispatch = { wake() {} };

async function fixture() {
  const { engine, sql, environment, register } = await testEngine();
  await register('hook', 'other', { id: 'alone', singleton: { onConflict: 'queue' } });
  const deliver = async (
    webhook: string,
    senderId: string,
    at = engine.clock.now(),
  ): Promise<NewDelivery> => {
    const delivery = {
      id: newTimedId('whd', at),
      webhook,
      senderId,
      headers: { 'x-a': '"\\\u001f' },
      body: Buffer.from(`"${senderId}"`),
      receivedAt: new Date(at),
    };
    return { delivery, run: await prepareWebhookRun(engine, environment, delivery) };
  };
  return { engine, sql, environment, deliver, server: () => createStore({ engine, dispatch }) };
}

test('of concurrent requests with one id on two servers, one is stored and starts one run', async () => {
  const { sql, deliver, server } = await fixture();
  const servers = [server(), server()] as const;
  const request = fc.record({
    server: fc.constantFrom(0, 1),
    webhook: fc.constantFrom('hook', 'other'),
    senderId: fc.constantFrom('a', 'b', 'c', 'd'),
    wait: fc.boolean(),
  });
  let example = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 24 }), async (requests) => {
      const prefix = `${example++}-`;
      /** The first delivery of each id. */
      const model = new Map<string, string>();
      let pending: Promise<unknown>[] = [];
      for (const { server: at, webhook, senderId, wait } of requests) {
        const item = await deliver(webhook, prefix + senderId);
        pending.push(
          servers[at](item).then(({ id, isDuplicate }) => {
            const key = `${webhook} ${prefix}${senderId}`;
            expect(isDuplicate).toBe(id !== item.delivery.id);
            if (!isDuplicate) expect(model.has(key) && model.get(key) !== id).toBe(false);
            model.set(key, model.get(key) ?? id);
            expect(model.get(key)).toBe(id);
          }),
        );
        if (!wait) continue;
        await Promise.all(pending);
        pending = [];
      }
      await Promise.all(pending);
      const rows = await sql<{ key: string; id: string; runs: string[] }[]>`
        select webhook || ' ' || sender_id as key, id, run_ids as runs
          from webhook_deliveries where starts_with(sender_id, ${prefix})`;
      expect(new Map(rows.map(({ key, id }) => [key, id]))).toEqual(model);
      const runs = await sql<{ id: string }[]>`
        select id from runs where starts_with(payload::jsonb ->> 'id', ${prefix})`;
      expect(runs.map(({ id }) => id).toSorted()).toEqual(rows.flatMap((row) => row.runs).toSorted());
    }),
    { numRuns: numRuns(60) },
  );
}, 120_000);

test('each delivery has a run of its own, also of a task with a singleton', async () => {
  const { sql, deliver, server } = await fixture();
  const store = server();
  for (const senderId of ['a', 'b', 'c']) await store(await deliver('alone', senderId));
  const rows = await sql<{ runs: string[] }[]>`select run_ids as runs from webhook_deliveries`;
  const runs = await sql<{ id: string }[]>`select id from runs`;
  expect(runs).toHaveLength(3);
  expect(rows.flatMap((row) => row.runs).toSorted()).toEqual(runs.map(({ id }) => id).toSorted());
});

test('a delivery whose lane was dropped, or whose task has other options, starts its run', async () => {
  const { sql, deliver, server } = await fixture();
  const store = server();
  const waiting = async () => (await sql`select from queued`).count;
  await store(await deliver('hook', 'first'));
  expect(await waiting()).toBe(1);
  await sql`delete from queued`;
  await sql`delete from lanes`;
  expect(await store(await deliver('hook', 'first'))).toMatchObject({ isDuplicate: true });
  expect(await waiting()).toBe(0);
  const items = [
    await deliver('hook', 'second'),
    await deliver('hook', 'first'),
    await deliver('hook', 'third'),
  ];
  items.push({
    ...(await deliver('hook', 'tagged')),
    run: { ...(await deliver('hook', 'x')).run, tags: ['a'] },
  });
  const stored = await Promise.all(items.map(store));
  expect(stored.map(({ isDuplicate }) => isDuplicate)).toEqual([false, true, false, false]);
  expect(await waiting()).toBe(3);
  // The statement of everyday runs, with a known and two new ones.
  const more = await Promise.all(
    ['second', 'fourth', 'fifth'].map(async (id) => store(await deliver('hook', id))),
  );
  expect(more.map(({ isDuplicate }) => isDuplicate)).toEqual([true, false, false]);
  expect(await waiting()).toBe(5);
  expect((await sql`select from runs`).count).toBe(6);
});

test('after the retention, a delivery is deleted, and its id is new again', async () => {
  const { engine, sql, deliver, server } = await fixture();
  const store = server();
  const day = 86_400_000;
  await store(await deliver('hook', 'old', engine.clock.now() - day - 1_000));
  await store(await deliver('hook', 'young', engine.clock.now() - day + 60_000));
  await webhookPruner(engine, day).tick();
  const rows = await sql<{ sender_id: string }[]>`select sender_id from webhook_deliveries`;
  expect(rows.map((row) => row.sender_id)).toEqual(['young']);
  expect((await store(await deliver('hook', 'old'))).isDuplicate).toBe(false);
  expect((await store(await deliver('hook', 'young'))).isDuplicate).toBe(true);
});
