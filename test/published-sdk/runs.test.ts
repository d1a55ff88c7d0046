import { configure, runs, tasks } from '@trigger.dev/sdk';
import { expect, test } from 'vitest';
import { testServer } from '../support/server.ts';

test('the published SDK triggers and retrieves a run with only its base URL and key changed', async () => {
  const server = await testServer();
  configure({ baseURL: server.url, accessToken: server.keys.prod });
  const when = new Date('2026-01-02T03:04:05.678Z');
  const handle = await tasks.trigger(
    'send-mail',
    { to: 'a@example.com', when },
    { tags: ['mail', 'a'], idempotencyKey: 'once' },
  );
  expect(handle.id).toMatch(/^run_[0-9a-z]{21,26}$/);
  expect(handle.publicAccessToken).toMatch(/^eyJ/);

  const run = await runs.retrieve(handle.id);
  expect(run).toMatchObject({
    id: handle.id,
    status: 'PENDING_VERSION',
    taskIdentifier: 'send-mail',
    isQueued: true,
    isCompleted: false,
    tags: ['a', 'mail'],
    payload: { to: 'a@example.com', when: when.toISOString() },
  });

  const again = await tasks.trigger('send-mail', { to: 'b@example.com' }, { idempotencyKey: 'once' });
  expect(again.id).toBe(handle.id);

  await runs.cancel(handle.id);
  expect((await runs.retrieve(handle.id)).status).toBe('CANCELED');
});

test('the key may have the prefix that the published SDK expects', async () => {
  const server = await testServer();
  const key = server.keys.stg.replace(/^svc_/, 'tr_');
  configure({ baseURL: server.url, accessToken: key });
  const handle = await tasks.trigger('send-mail', 'a text');
  expect((await runs.retrieve(handle.id)).payload).toBe('a text');
  // With such a key the SDK signs nothing itself: the handle's token is from the server.
  configure({ baseURL: server.url, accessToken: handle.publicAccessToken });
  expect((await runs.retrieve(handle.id)).id).toBe(handle.id);
});

test('the token of a handle gives access to its run and no other', async () => {
  const server = await testServer();
  configure({ baseURL: server.url, accessToken: server.keys.prod });
  const mine = await tasks.trigger('send-mail', {});
  const other = await tasks.trigger('send-mail', {});
  const request = (path: string, key: string) => server.ask(path, { key });
  expect((await request(`/api/v3/runs/${mine.id}`, mine.publicAccessToken)).status).toBe(200);
  expect((await request(`/api/v3/runs/${other.id}`, mine.publicAccessToken)).status).toBe(403);
});
