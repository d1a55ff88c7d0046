import { expect, test } from 'vitest';
import { countRuns } from '../list/count.ts';
import { testEngine } from '../testing/engine.ts';
import { listTaskActivity } from './activity.ts';
import { listTasks, retrieveTask } from './read.ts';

const failed = {
  kind: 'failed',
  status: 'FAILED',
  error: { type: 'BUILT_IN_ERROR', name: 'Error', message: 'no', stackTrace: '' },
} as const;

test('a task includes its declaration and statistics of its latest runs', async () => {
  const t = await testEngine();
  const env = t.environment.id;
  expect(await listTasks(t.engine, env)).toEqual([]);
  const { id, version } = await t.register('other', {
    id: 'mail',
    description: 'Sends mail',
    queue: { name: 'mails', concurrencyLimit: 200 },
    retry: { maxAttempts: 5 },
  });
  await t.addRunner('r1');
  expect((await listTasks(t.engine, env)).map((task) => task.id)).toEqual(['mail', 'other']);
  expect(await retrieveTask(t.engine, env, 'other')).toMatchObject({
    version,
    queue: { name: 'task/other', concurrencyLimit: null },
    recent: { runs: 0, from: null, successRate: null, p50Ms: null },
    lastRuns: [],
  });
  // An old failure, outside of the latest hundred runs.
  await t.trigger('mail');
  for (const attempt of await t.claim('r1', [id], 1)) await t.end(attempt, failed);
  for (let n = 0; n < 99; n++) await t.trigger('mail');
  const attempts = await t.claim('r1', [id], 99);
  for (const [n, attempt] of attempts.entries()) await t.end(attempt, n < 24 ? failed : undefined);
  const before = await retrieveTask(t.engine, env, 'mail');
  expect(before?.recent).toMatchObject({ runs: 100, completed: 75, failed: 25, live: 0, successRate: 0.75 });
  const last = await t.trigger('mail');
  const after = await retrieveTask(t.engine, env, 'mail');
  expect(after).toMatchObject({
    description: 'Sends mail',
    queue: { name: 'mails', concurrencyLimit: 200 },
    retry: { maxAttempts: 5 },
    recent: { runs: 100, completed: 75, failed: 24, live: 1, successRate: 75 / 99 },
  });
  expect(after?.lastRuns).toHaveLength(10);
  expect(after?.lastRuns[0]).toMatchObject({ id: last.id, status: 'QUEUED' });
  expect(after?.recent.p95Ms).toBeGreaterThanOrEqual(after?.recent.p50Ms ?? Infinity);
  expect(await retrieveTask(t.engine, env, 'nothing')).toBeUndefined();
});

test('tasks are searched and sorted over all of them by their figures of the last day', async () => {
  const t = await testEngine();
  const env = t.environment.id;
  const hour = new Date(Math.floor(t.engine.clock.now() / 3_600_000) * 3_600_000);
  await t.register('quick', 'slow', 'broken', 'unused');
  const add = async (task: string, counts: readonly number[], bucket: number | null, ms: number) => {
    const [triggered = 0, completed = 0, failures = 0, crashed = 0] = counts;
    const lasted = bucket === null ? [] : [completed];
    await t.sql`
      insert into run_stats (env, width, series, at, triggered, completed, failed, crashed, lasted_from, lasted, lasted_ms)
      values (${env}, 60, ${`t:${task}`}, ${hour}, ${triggered}, ${completed}, ${failures}, ${crashed}, ${bucket}, ${lasted}::int[], ${ms})`;
  };
  await add('quick', [30, 30], -40, 900);
  await add('slow', [20, 20], 40, 600_000);
  await add('broken', [10, 2, 6, 2], null, 0);
  const queue = { queue: 'task/unused', state: 'ready', waiting: 7, oldestMs: 5_000 };
  const sample = {
    queues: [
      { env, ...queue },
      { env, ...queue, state: 'paused' },
      { env: -1, ...queue },
    ],
  };
  await t.sql`update fleet_sample set sample = ${JSON.stringify(sample)}::text::jsonb`;
  const list = async (query: object = {}) =>
    listTaskActivity(t.engine, env, { sort: 'name', page: 1, perPage: 10, ...query });
  const order = async (sort: string) => (await list({ sort })).data.map(({ id }) => id);
  expect(await order('name')).toEqual(['broken', 'quick', 'slow', 'unused']);
  expect(await order('runs')).toEqual(['quick', 'slow', 'broken', 'unused']);
  expect(await order('p95')).toEqual(['slow', 'quick', 'broken', 'unused']);
  expect((await order('success'))[0]).toBe('broken');
  expect((await order('failed'))[0]).toBe('broken');
  expect((await order('waiting'))[0]).toBe('unused');
  expect((await order('oldest'))[0]).toBe('unused');
  const second = await list({ sort: 'runs', page: 2, perPage: 1 });
  expect(second.data).toMatchObject([{ id: 'slow', triggered: 20, failed: 0, successRate: 1, waiting: 0 }]);
  expect(second.pagination).toEqual({ currentPage: 2, totalPages: 4, count: 4 });
  const found = await list({ 'filter[search]': 'UNUS' });
  expect(found).toMatchObject({ data: [{ id: 'unused', waiting: 14, oldestMs: 5_000 }], total: 4 });
  expect(found.data[0]?.ended).toEqual(Array.from({ length: 24 }, () => 0));
});

test('counts are exact up to 10,000, and marked beyond that', async () => {
  const t = await testEngine();
  const env = t.environment.id;
  await t.register('mail');
  const { id } = await t.trigger('mail');
  const count = (query: object = {}) =>
    countRuns(t.sql, [env], { 'page[size]': 1, ...query }, t.engine.clock.now());
  expect(await count()).toEqual({ count: 1, isExact: true });
  const copy = (from: number, to: number) => t.sql`
    insert into runs (env, id, task, queue_id, sort_key, created_at)
    select env, left(id, 12) || lpad(n::text, 6, '0'), task, queue_id, sort_key, created_at from runs, generate_series(${from}::int, ${to}::int) n
     where id = ${id}`;
  await copy(1, 9_999);
  expect(await count({ 'filter[taskIdentifier]': ['mail'] })).toEqual({ count: 10_000, isExact: true });
  await copy(10_000, 10_001);
  expect(await count({ 'filter[taskIdentifier]': ['mail'] })).toEqual({ count: 10_000, isExact: false });
  expect(await count({ 'filter[taskIdentifier]': ['other'] })).toEqual({ count: 0, isExact: true });
  expect(await count({ 'filter[queue]': ['nothing'] })).toEqual({ count: 0, isExact: true });
});
