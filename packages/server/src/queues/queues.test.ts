import { describe, expect, test } from 'vitest';
import { lockWaiters } from '../../../../test/support/locks.ts';
import { testEngine } from '../runs/testing/engine.ts';
import { changeQueue } from './change.ts';
import { changeConcurrency, readConcurrency } from './concurrency.ts';
import { findQueue } from './find.ts';
import { listQueueKeys } from './keys.ts';
import { listQueues } from './list.ts';
import { readWaiting } from './waiting.ts';

const sends = { id: 'send', queue: { name: 'mail', concurrencyLimit: 1 } };
const mail = { type: 'custom', queue: 'mail' } as const;
const byName = { page: 1, perPage: 25, sort: 'name' } as const;

describe('queues', () => {
  test('are listed by name, in pages, with their executing and waiting runs', async () => {
    const t = await testEngine();
    const env = t.environment.id;
    const { id: version } = await t.register(sends, 'resize');
    await t.addRunner('r');
    for (const key of ['', 'a', 'b'])
      for (let n = 0; n < 3; n++) await t.trigger('send', { concurrencyKey: key });
    await t.trigger('resize', { delay: '1h' });
    await t.claim('r', [version], 10);
    const { queues, count } = await listQueues(t.sql, env, byName);
    expect(count).toBe(2);
    expect(queues).toMatchObject([
      { name: 'mail', type: 'custom', running: 3, queued: 6, paused: false, concurrencyLimit: 1 },
      { name: 'resize', type: 'task', running: 0, queued: 0, concurrencyLimit: null },
    ]);
    expect((await listQueues(t.sql, env, { ...byName, page: 2, perPage: 1 })).queues).toEqual([queues[1]]);
    expect((await listQueues(t.sql, env, { ...byName, page: 9 })).queues).toEqual([]);
    expect(await readConcurrency(t.sql, env)).toEqual({
      paused: false,
      concurrencyLimit: null,
      running: 3,
      queued: 6,
    });
  });

  test('of tasks that no version has are not listed until a version has the task, or they are paused', async () => {
    const t = await testEngine();
    const env = t.environment.id;
    const listed = async () => {
      const { queues, count } = await listQueues(t.sql, env, byName);
      expect(count).toBe(queues.length);
      return queues.map(({ name }) => name);
    };
    await t.register('send');
    await t.trigger('sned');
    await t.trigger('later');
    await t.trigger('send', { queue: { name: 'mail' } });
    expect(await listed()).toEqual(['mail', 'send']);
    const typo = { type: 'task', queue: 'sned' } as const;
    expect(await findQueue(t.sql, env, typo)).toMatchObject({ name: 'sned', running: 0, queued: 0 });
    await changeQueue(t.sql, env, typo, { paused: true });
    expect(await listed()).toEqual(['mail', 'send', 'sned']);
    await changeQueue(t.sql, env, typo, { paused: false });
    await t.register('send', 'later');
    expect(await listed()).toEqual(['mail', 'later', 'send']);
    // A queue that a version has had remains listed.
    await t.register('send');
    expect(await listed()).toEqual(['mail', 'later', 'send']);
  });

  test('are sorted and searched over all pages', async () => {
    const t = await testEngine();
    const env = t.environment.id;
    const names = Array.from({ length: 130 }, (_, at) => `q${String(at).padStart(3, '0')}`);
    const { id: version } = await t.register({ id: 'send' });
    await t.addRunner('r');
    for (const [name, count] of [
      ['q129', 3],
      ['q003', 2],
      ['Alpha', 1],
    ] as const)
      for (let n = 0; n < count; n++) await t.trigger('send', { queue: { name } });
    const [claimed] = await t.claim('r', [version], 1);
    expect(claimed).toBeDefined();
    await t.sql`
      insert into queues (env, name, paused) select ${env}, name, name = 'q100' from unnest(${names}::text[]) as n (name)
      on conflict do nothing`;
    const namesOf = async (query: Partial<Parameters<typeof listQueues>[2]>) => {
      const { queues, count } = await listQueues(t.sql, env, { ...byName, perPage: 3, ...query });
      return [count, ...queues.map(({ name, queued, running }) => `${name} ${queued} ${running}`)];
    };
    // The first run was triggered first, so it is the one that executes.
    expect(await namesOf({ sort: 'queued' })).toEqual([132, 'q003 2 0', 'q129 2 1', 'Alpha 1 0']);
    expect(await namesOf({ sort: 'running', perPage: 2 })).toEqual([132, 'q129 2 1', 'Alpha 1 0']);
    expect(await namesOf({ 'filter[search]': 'ALPH' })).toEqual([1, 'Alpha 1 0']);
    expect(await namesOf({ 'filter[search]': 'q12', page: 4 })).toEqual([10, 'q129 2 1']);
    expect(await namesOf({ 'filter[search]': '%' })).toEqual([0]);
    expect(await namesOf({ 'filter[search]': 'a\0' })).toEqual([0]);
    expect(await namesOf({ 'filter[paused]': true })).toEqual([1, 'q100 0 0']);
    expect(await namesOf({ 'filter[paused]': false, sort: 'queued', perPage: 1 })).toEqual([131, 'q003 2 0']);
    await t.sql`update queues set concurrency_limit = 5, concurrency_override = 2 where name = 'q100'`;
    await t.sql`update queues set concurrency_limit = 3 where name = 'q101'`;
    expect(await namesOf({ sort: 'limit', perPage: 2 })).toEqual([132, 'q100 0 0', 'q101 0 0']);
    const aged = (queue: string, oldestMs: number) => ({ env, queue, state: 'ready', waiting: 1, oldestMs });
    const sample = { queues: [aged('q003', 10), aged('q129', 20.4), { ...aged('q000', 30), env: -1 }] };
    await t.sql`update fleet_sample set sample = ${JSON.stringify(sample)}::text::jsonb`;
    expect(await namesOf({ sort: 'oldest', perPage: 2 })).toEqual([132, 'q129 2 1', 'q003 2 0']);
    const ages = [...(await readWaiting(t.sql, env))].map(([queue, { oldestMs }]) => [queue, oldestMs]);
    expect(Object.fromEntries(ages)).toEqual({ q003: 10, q129: 20 });
  });

  test('list their concurrency keys, those with the most waiting runs first', async () => {
    const t = await testEngine();
    const { id: version } = await t.register(sends, 'resize');
    await t.addRunner('r');
    for (const [key, count] of [
      ['', 1],
      ['a', 2],
      ['b', 4],
    ] as const)
      for (let n = 0; n < count; n++) await t.trigger('send', { concurrencyKey: key });
    await t.trigger('resize', { concurrencyKey: 'elsewhere' });
    await t.claim('r', [version], 10);
    const { id } = (await findQueue(t.sql, t.environment.id, mail))!;
    const keys = [
      { key: 'b', running: 1, queued: 3, weight: 1 },
      { key: 'a', running: 1, queued: 1, weight: 1 },
      { key: null, running: 1, queued: 0, weight: 1 },
    ];
    expect(await listQueueKeys(t.sql, id, 10)).toEqual(keys);
    expect(await listQueueKeys(t.sql, id, 1)).toEqual(keys.slice(0, 1));
    expect(await listQueueKeys(t.sql, 'queue_0', 10)).toEqual([]);
  });

  test('are found by id, by task and by name, and in no other environment', async () => {
    const t = await testEngine();
    const env = t.environment.id;
    await t.register(sends, 'resize');
    const found = await findQueue(t.sql, env, mail);
    expect(await findQueue(t.sql, env, { type: 'id', queue: found!.id })).toEqual(found);
    expect(await findQueue(t.sql, env, { type: 'task', queue: 'resize' })).toMatchObject({ type: 'task' });
    expect(await findQueue(t.sql, env, { type: 'custom', queue: 'task/resize' })).toMatchObject({
      name: 'resize',
    });
    for (const queue of ['queue_0', 'queue_99999999999999999999', 'mail', '1', '', "x' or true", '\u0000']) {
      expect(await findQueue(t.sql, env, { type: 'id', queue })).toBeUndefined();
    }
    expect(await findQueue(t.sql, env, { type: 'custom', queue: 'a\u0000b' })).toBeUndefined();
    expect(await findQueue(t.sql, env + 1, { type: 'id', queue: found!.id })).toBeUndefined();
    expect(
      await changeQueue(t.sql, env + 1, { type: 'id', queue: found!.id }, { paused: true }),
    ).toBeUndefined();
    expect(await findQueue(t.sql, env, mail)).toMatchObject({ paused: false });
  });

  test('can be paused while a version that changes their limit is registered', async () => {
    const t = await testEngine();
    const env = t.environment.id;
    await t.register(sends);
    const waiting = async (count: number) => {
      const locked = () => lockWaiters(t.sql);
      await expect.poll(locked, { timeout: 15_000 }).toHaveLength(count);
    };
    const acts = await t.sql.begin(async (tx) => {
      await tx`select from queues where env = ${env} for update`;
      const registered = t.register({ ...sends, queue: { name: 'mail', concurrencyLimit: 2 } });
      await waiting(1);
      const paused = changeQueue(t.sql, env, mail, { paused: true });
      await waiting(2);
      return { both: Promise.all([registered, paused]) };
    });
    await acts.both;
    expect(await findQueue(t.sql, env, mail)).toMatchObject({ paused: true, concurrencyLimit: 2 });
  });

  test('start no runs while paused, and start them again when resumed', async () => {
    const t = await testEngine();
    const env = t.environment.id;
    const { id: version } = await t.register('resize');
    await t.addRunner('r');
    const { id } = await t.trigger('resize');
    const own = { type: 'task', queue: 'resize' } as const;
    expect(await changeQueue(t.sql, env, own, { paused: true })).toMatchObject({ paused: true });
    // The claim marks the lane as blocked; resuming must clear that.
    expect(await t.claim('r', [version], 1)).toEqual([]);
    expect(await t.claim('r', [version], 1)).toEqual([]);
    expect(await changeQueue(t.sql, env, own, { paused: false })).toMatchObject({ paused: false });
    expect((await t.claim('r', [version], 1)).map((attempt) => attempt.run)).toEqual([id]);
  });

  test('retain an override of the declared limit across new versions until it is reset', async () => {
    const t = await testEngine();
    const env = t.environment.id;
    let { id: version } = await t.register(sends);
    await t.addRunner('r');
    for (let n = 0; n < 6; n++) await t.trigger('send');
    expect(await t.claim('r', [version], 10)).toHaveLength(1);
    const at = new Date('2026-11-21T00:00:00.000Z');
    expect(await changeQueue(t.sql, env, mail, { override: 3, at })).toMatchObject({
      concurrencyLimit: 3,
      concurrency: { current: 3, base: 1, override: 3, overriddenAt: at.toISOString(), overriddenBy: null },
    });
    expect(await t.claim('r', [version], 10)).toHaveLength(2);
    ({ id: version } = await t.register({ ...sends, queue: { name: 'mail', concurrencyLimit: 2 } }));
    expect(await findQueue(t.sql, env, mail)).toMatchObject({ concurrency: { current: 3, base: 2 } });
    expect(await changeQueue(t.sql, env, mail, { override: null, at })).toMatchObject({
      concurrencyLimit: 2,
      concurrency: { override: null, overriddenAt: null },
    });
    expect(await t.claim('r', [version], 10)).toEqual([]);
  });

  test('share the limit of their environment, which may be paused as a whole', async () => {
    const t = await testEngine();
    const env = t.environment.id;
    const { id: version } = await t.register(sends, 'resize');
    await t.addRunner('r');
    await t.trigger('send');
    for (let n = 0; n < 4; n++) await t.trigger('resize');
    expect(await changeConcurrency(t.sql, env, { concurrencyLimit: 2 })).toMatchObject({
      concurrencyLimit: 2,
    });
    expect(await t.claim('r', [version], 10)).toHaveLength(2);
    expect(await changeConcurrency(t.sql, env, { paused: true })).toMatchObject({
      paused: true,
      concurrencyLimit: 2,
    });
    expect(await changeConcurrency(t.sql, env, { concurrencyLimit: null })).toEqual({
      paused: true,
      concurrencyLimit: null,
      running: 2,
      queued: 3,
    });
    expect(await t.claim('r', [version], 10)).toEqual([]);
    await changeConcurrency(t.sql, env, { paused: false });
    expect(await t.claim('r', [version], 10)).toHaveLength(3);
  });

  test('never exceed a limit that is lowered during concurrent claims', async () => {
    const t = await testEngine();
    const env = t.environment.id;
    const { id: version } = await t.register(sends);
    for (let n = 0; n < 60; n++) await t.trigger('send');
    await changeQueue(t.sql, env, mail, { override: 0, at: new Date() });
    const runners = ['a', 'b', 'c'];
    for (const runner of runners) await t.addRunner(runner);
    for (let limit = 1; limit <= 8; limit++) {
      const [, ...claims] = await Promise.all([
        changeQueue(t.sql, env, mail, { override: limit, at: new Date() }),
        ...runners.map((runner) => t.claim(runner, [version], 5)),
      ]);
      const [row] = await t.sql<{ live: number }[]>`select count(*)::int as live from leases`;
      expect(row!.live).toBeLessThanOrEqual(limit);
      for (const attempt of claims.flat()) await t.end(attempt);
    }
  });
});
