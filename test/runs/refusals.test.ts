/** Rejected requests, with their status and message. */
import { expect, test } from 'vitest';
import { sharedServer } from '../support/shared-server.ts';

test('invalid filters and cursors are named', async () => {
  const { ask } = await sharedServer();
  const cases: [string, string][] = [
    ['filter[status]=QUEUED,NONE', 'filter[status]'],
    ['filter[machine]=huge', 'filter[machine]'],
    ['filter[isTest]=maybe', 'filter[isTest]'],
    ['filter[createdAt][from]=yesterday', 'filter[createdAt][from]'],
    ['filter[createdAt][period]=1y', 'filter[createdAt][period]'],
    ['page[size]=0', 'page[size]'],
    ['page[size]=101', 'page[size]'],
    ['page[after]=garbage', 'page[after]'],
    ['page%5Bbefore%5D=%7B%7D', 'page[before]'],
  ];
  for (const [query, name] of cases) {
    const { status, body } = await ask(`/api/v1/runs?${query}`);
    expect({ status, error: body.error, path: body.details?.[0]?.path }).toEqual({
      status: 400,
      error: 'Query Error',
      path: [name],
    });
  }
});

test('runs that do not exist get 404, with the messages that clients expect', async () => {
  const { ask } = await sharedServer();
  const post = { method: 'POST', body: {} };
  const errorOf = async (path: string, options = {}) => {
    const { status, body } = await ask(`/api/v1/runs/run_x/${path}`, options);
    return `${status} ${body.error}`;
  };
  expect(await errorOf('replay', { method: 'POST' })).toBe('404 Resource not found');
  expect(await errorOf('reschedule', { method: 'POST', body: { delay: '1h' } })).toBe('404 Run not found');
  expect(await errorOf('tags', { method: 'POST', body: { tags: 'a' } })).toBe('404 Run not found');
  expect(await errorOf('metadata', { method: 'PUT', body: {} })).toBe('404 Run not found');
  expect(await errorOf('result')).toBe("404 Run either doesn't exist or is not finished");
  expect(await errorOf('trace')).toBe('404 Trace not found');
  expect(await errorOf('reason')).toBe('404 Run not found');
  expect(await errorOf('logs')).toBe('404 Run not found');
  expect(await errorOf('tags', post)).toMatch(/^400 Validation error: .*tags/);
});

test('invalid bodies are rejected before any change', async () => {
  const { ask } = await sharedServer();
  const { body: created } = await ask('/api/v1/tasks/send/trigger', { method: 'POST', body: { payload: 1 } });
  const metadata = (body: unknown) => ask(`/api/v1/runs/${created.id}/metadata`, { method: 'PUT', body });
  expect((await metadata({ operations: [{ type: 'explode', key: 'a' }] })).status).toBe(400);
  expect((await metadata({ operations: [{ type: 'increment', key: 'a', value: 'x' }] })).status).toBe(400);
  expect((await metadata({ operations: [{ type: 'set', key: '__proto__', value: 1 }] })).body.error).toMatch(
    /^operations\[0\]\.key/,
  );
  expect((await metadata({ metadata: { a: 'x'.repeat(262_144) } })).status).toBe(413);
  expect((await metadata('{"metadata":')).body.error).toBe('Invalid JSON');
  const tags = (list: unknown) =>
    ask(`/api/v1/runs/${created.id}/tags`, { method: 'POST', body: { tags: list } });
  expect((await tags('x'.repeat(129))).status).toBe(400);
  expect((await tags(Array.from({ length: 11 }, (_, n) => `t${n}`))).status).toBe(422);
  const queue = (path: string, body: unknown) => ask(`/api/v1/queues/send/${path}`, { method: 'POST', body });
  expect((await queue('pause', { type: 'task', action: 'stop' })).status).toBe(400);
  expect((await queue('concurrency/override', { type: 'task', concurrencyLimit: -1 })).status).toBe(400);
  expect((await queue('concurrency/override', { type: 'task', concurrencyLimit: 1 })).status).toBe(200);
  expect((await ask('/api/v1/queues/none?type=custom')).status).toBe(404);
  expect((await ask('/api/v1/queues/a%2Fb?type=custom')).status).toBe(404);
});

test('a caller that may read some tasks must name them, and learns nothing about other runs', async () => {
  const { ask, keys } = await sharedServer();
  const trigger = async (task: string) =>
    (await ask(`/api/v1/tasks/${task}/trigger`, { method: 'POST', body: { payload: 1 } })).body.id as string;
  const [mine, other] = [await trigger('mine'), await trigger('other')];
  const { body } = await ask('/api/v1/auth/public-tokens', {
    method: 'POST',
    body: { scopes: ['read:tasks:mine'] },
  });
  const as = { key: body.token as string };
  expect((await ask('/api/v1/runs', as)).status).toBe(403);
  expect((await ask('/api/v1/runs?filter[taskIdentifier]=mine,other', as)).status).toBe(403);
  const listed = await ask('/api/v1/runs?filter[taskIdentifier]=mine', as);
  expect(listed.body.data.map((run: { id: string }) => run.id)).toEqual([mine]);
  expect((await ask(`/api/v1/runs/${mine}/reason`, as)).status).toBe(200);
  expect((await ask(`/api/v1/runs/${other}/reason`, as)).status).toBe(403);
  expect((await ask('/api/v1/runs/run_unknown/reason', as)).status).toBe(403);
  expect((await ask(`/api/v1/runs/${mine}/reason`, { key: keys.stg })).status).toBe(404);
  expect((await ask(`/api/v1/runs/${mine}/replay`, { ...as, method: 'POST' })).status).toBe(401);
});

test('only unrestricted keys set the retention period, for each environment separately', async () => {
  const { ask, keys } = await sharedServer();
  const put = (runsDays: unknown) => ask('/api/v1/retention', { method: 'PUT', body: { runsDays } });
  const unset = { runsDays: null, completedDays: null, failedDays: null, canceledDays: null };
  expect((await ask('/api/v1/retention')).body).toEqual(unset);
  expect((await put(7)).body).toEqual({ ...unset, runsDays: 7 });
  expect((await ask('/api/v1/retention')).body).toEqual({ ...unset, runsDays: 7 });
  expect((await ask('/api/v1/retention', { key: keys.stg })).body).toEqual(unset);
  for (const wrong of [0, -1, 1.5, 'x', undefined, 36_501]) expect((await put(wrong)).status).toBe(400);
  expect((await put(null)).body).toEqual(unset);
});
