/** Blocked runs start immediately when their blocker is removed, with a real server and a real runner connection. */
import { expect, test } from 'vitest';
import { connectIdleRunner } from './idle-runner.ts';
import { testServer } from '../support/server.ts';
import { promote } from '../support/promote.ts';

test('runs start immediately when a queue or an environment is resumed or a limit is raised', async () => {
  const server = await testServer();
  const version = await server.ask('/runner/v1/versions', {
    method: 'POST',
    body: { contentHash: 'content-1', tasks: [{ id: 'send', filePath: 'a.ts' }] },
  });
  await promote(server.url, server.keys.prod);
  const runner = await connectIdleRunner(server.url, server.keys.prod, version.body.version);
  const put = (body: unknown) => server.ask('/api/v1/concurrency', { method: 'PUT', body });
  const queue = (path: string, body: object) =>
    server.ask(`/api/v1/queues/send/${path}`, { method: 'POST', body: { type: 'task', ...body } });
  const trigger = async () =>
    (await server.ask('/api/v1/tasks/send/trigger', { method: 'POST', body: { payload: 1 } })).body
      .id as string;
  const why = async (run: string) => (await server.ask(`/api/v1/runs/${run}/reason`)).body.reason as string;

  const first = await trigger();
  expect(await runner.next()).toBe(first);
  await queue('pause', { action: 'pause' });
  const paused = await trigger();
  expect(await why(paused)).toBe('queue_paused');
  await queue('pause', { action: 'resume' });
  expect(await runner.next()).toBe(paused);

  await queue('concurrency/override', { concurrencyLimit: 2 });
  const limited = await trigger();
  expect(await why(limited)).toBe('queue_at_limit');
  await queue('concurrency/override', { concurrencyLimit: 3 });
  expect(await runner.next()).toBe(limited);
  await queue('concurrency/reset', {});

  await put({ paused: true });
  const blocked = await trigger();
  expect(await why(blocked)).toBe('environment_paused');
  await put({ paused: false, concurrencyLimit: 3 });
  expect(await why(blocked)).toBe('environment_at_limit');
  await put({ concurrencyLimit: null });
  expect(await runner.next()).toBe(blocked);

  runner.close();
});
