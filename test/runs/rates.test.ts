import { expect, test } from 'vitest';
import type { RateLimits } from '../../packages/server/src/http/rate-limit.ts';
import { startProject } from '../support/project.ts';
import { testServer, type TestServer } from '../support/server.ts';

const slow = { burst: 10, perSecond: 0.01 };

async function serverWith(rateLimits: RateLimits): Promise<{ server: TestServer; token: string }> {
  const server = await testServer({ rateLimits });
  const scopes = ['trigger:tasks', 'batchTrigger:tasks', 'write:events'];
  const { body } = await server.ask('/api/v1/auth/public-tokens', { method: 'POST', body: { scopes } });
  return { server, token: body.token as string };
}

const items = (count: number) => Array.from({ length: count }, (_, n) => ({ task: 'work', payload: n }));

async function post(server: TestServer, path: string, key: string, body: unknown): Promise<number> {
  return (await server.ask(path, { method: 'POST', key, body })).status;
}

const many = '/api/v1/tasks/trigger-many';
const whole = '/api/v2/tasks/batch';

test('each trigger of a trigger-many request counts as one run of a batch', async () => {
  const { server, token } = await serverWith({ batchRuns: { publicToken: slow } });
  expect(await post(server, many, token, { items: items(6) })).toBe(200);
  expect(await post(server, whole, token, { items: items(3) })).toBe(202);
  const refused = await server.ask(many, { method: 'POST', key: token, body: { items: items(2) } });
  expect([refused.status, refused.headers.get('x-ratelimit-remaining')]).toEqual([429, '1']);
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
  // All or none are created.
  expect((await server.ask('/api/v1/runs?page[size]=100')).body.data).toHaveLength(9);
  expect(await post(server, many, token, { items: items(1) })).toBe(200);
  expect(await post(server, whole, token, { items: items(1) })).toBe(429);
  // Keys have their own bucket, which is not configured here.
  expect(await post(server, many, server.keys.prod, { items: items(100) })).toBe(200);
});

test('each trigger of a trigger-many request counts as one request, and a large request is not rejected forever', async () => {
  const { server, token } = await serverWith({ publicToken: { burst: 5, perSecond: 20 } });
  expect(await post(server, many, token, { items: items(40) })).toBe(200);
  const refused = await server.ask(many, { method: 'POST', key: token, body: { items: items(1) } });
  expect(refused.status).toBe(429);
  const reset = Number(refused.headers.get('x-ratelimit-reset')) - Date.now();
  expect(reset).toBeGreaterThan(500);
  await new Promise((resolve) => setTimeout(resolve, reset + 50));
  expect(await post(server, many, token, { items: items(1) })).toBe(200);
  // Concurrent requests do not all pass before the first is counted.
  await new Promise((resolve) => setTimeout(resolve, 500));
  const at = await Promise.all(
    Array.from({ length: 5 }, () => post(server, many, token, { items: items(400) })),
  );
  expect(at.filter((status) => status === 200)).toHaveLength(1);
});

test('events, backfills and bulk replays count by the number of runs that they create', async () => {
  const { server, token } = await serverWith({ batchRuns: { publicToken: slow, secretKey: slow } });
  await startProject(server, {
    'tasks/work.ts': `import { event, schedules, task } from '@millrace/sdk';
export const one = task({ id: 'one', on: event({ name: 'order.*' }), run: async () => {} });
export const two = task({ id: 'two', on: event({ name: 'order.paid' }), run: async () => {} });
export const tick = schedules.task({ id: 'tick', run: async () => {} });
`,
  });
  const event = (name: string) => ({ id: crypto.randomUUID(), event: { name } });
  const send = (...names: string[]) =>
    post(server, '/api/v1/event-batches', token, { events: names.map(event) });
  expect(await send('order.paid', 'order.paid', 'order.sent', 'other')).toBe(200);
  expect(await post(server, '/api/v1/events', token, event('order.paid'))).toBe(200);
  // Seven of ten are created.
  expect(await send('order.paid', 'order.paid')).toBe(429);
  expect(await send('other')).toBe(200);

  const { body: schedule } = await server.ask('/api/v1/schedules', {
    method: 'POST',
    body: { task: 'tick', cron: '0 * * * *', deduplicationKey: 'a' },
  });
  const backfill = (hours: number) =>
    post(server, `/api/v1/schedules/${schedule.id}/backfill`, server.keys.prod, {
      from: new Date(Date.now() - hours * 3_600_000).toISOString(),
      // Not the current time, which an adjustment of the clock could move into the future.
      to: new Date(Date.now() - 1_000).toISOString(),
    });
  expect(await backfill(8)).toBe(200);
  expect(await backfill(30)).toBe(429);
  const { body: runs } = await server.ask('/api/v1/runs?page[size]=5');
  const runIds = (runs.data as { id: string }[]).map(({ id }) => id);
  const replay = (ids: readonly string[]) =>
    post(server, '/api/v1/bulk-actions', server.keys.prod, { action: 'replay', runIds: ids });
  expect(await replay(runIds)).toBe(429);
  expect(await replay(runIds.slice(0, 1))).toBe(202);
});
