import { expect, onTestFinished, test } from 'vitest';
import { testServer, type TestServer } from '../../../../../test/support/server.ts';
import { connect } from '../../db/connect.ts';
import { promote } from '../../../../../test/support/promote.ts';

const wait = { timeout: 20_000 };

async function delayed(server: TestServer): Promise<() => Promise<string>> {
  const { body } = await server.ask('/api/v1/tasks/work/trigger', {
    method: 'POST',
    body: { options: { delay: '1s' } },
  });
  return async () => (await server.ask(`/api/v3/runs/${body.id}`)).body.status as string;
}

test('a running server follows the beginning and the end of a pause on another server', async () => {
  const first = await testServer({ reveal: true });
  await first.ask('/runner/v1/versions', {
    method: 'POST',
    body: { contentHash: 'a'.repeat(64), tasks: [{ id: 'work', filePath: 'x.ts', exportName: 'work' }] },
  });
  await promote(first.url, first.keys.prod);
  const before = await delayed(first);
  await expect.poll(before, wait).toBe('QUEUED');

  const two = await testServer({ database: first.database, paused: true, reveal: true });
  expect(two.pausedSince).toBeInstanceOf(Date);
  await expect.poll(() => first.pausedSince, wait).toEqual(two.pausedSince);
  const status = await delayed(first);
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  expect(await status()).toBe('DELAYED');

  const { body } = await first.ask('/api/v1/resume', { method: 'POST', key: first.personalAccessToken });
  expect(body).toEqual({ wasPaused: true, schedules: 0 });
  expect(first.pausedSince).toBeNull();
  await expect.poll(() => two.pausedSince, wait).toBeNull();
  await expect.poll(status, wait).toBe('QUEUED');
}, 60_000);

test('after many pauses and resumptions, the last one applies and work continues', async () => {
  const server = await testServer();
  const sql = connect(server.database, { name: 'test', max: 1 });
  onTestFinished(() => sql.end());
  await server.ask('/runner/v1/versions', {
    method: 'POST',
    body: { contentHash: 'a'.repeat(64), tasks: [{ id: 'work', filePath: 'x.ts', exportName: 'work' }] },
  });
  await promote(server.url, server.keys.prod);
  const resume = () => server.ask('/api/v1/resume', { method: 'POST', key: server.personalAccessToken });
  for (let times = 0; times < 20; times++) {
    await sql`update installation set paused_at = now()`;
    await Promise.all([resume(), resume(), resume()]);
  }
  expect(server.pausedSince).toBeNull();
  const status = await delayed(server);
  await expect.poll(status, wait).toBe('QUEUED');
  expect(server.logged.filter((line) => line.includes('"level":"error"'))).toEqual([]);
}, 60_000);
