import { afterEach, beforeEach, expect, test } from 'vitest';
import { branches, configure } from '../index.ts';
import { startServer, type HttpServer, type Received } from '../testing/http-server.ts';

let server: HttpServer;
const archiveReplies: unknown[] = [];
beforeEach(async () => {
  server = await startServer(({ method, path }: Received) => {
    if (path === '/api/v1/whoami') return { body: { project: { ref: 'proj_own' } } };
    if (path.endsWith('/archive')) return { body: archiveReplies.shift() };
    if (method === 'POST') return { body: { id: 'env_1', schedules: true } };
    const at = { createdAt: '2026-11-20T00:00:00.000Z', updatedAt: '2026-11-21T00:00:00.000Z' };
    return {
      body: {
        branches: [{ id: 'env_1', name: 'feat/x', env: 'preview', isPaused: false, schedules: false, ...at }],
      },
    };
  });
  configure({ baseURL: server.url, secretKey: 'k' });
});
afterEach(() => server.close());

const requests = () =>
  server.received
    .filter(({ path }) => path !== '/api/v1/whoami')
    .map(({ method, path, body }) => [method, path.replace('/api/v1/projects/', ''), body]);

test('belong to the project of the key, or to the given one', async () => {
  const [branch] = await branches.list();
  expect(branch).toMatchObject({ name: 'feat/x', updatedAt: new Date('2026-11-21T00:00:00.000Z') });
  await branches.list({ projectRef: 'proj_a' });
  expect(await branches.create('feat/x', { schedules: true })).toEqual({ id: 'env_1', schedules: true });
  expect(requests()).toEqual([
    ['GET', 'proj_own/branches', undefined],
    ['GET', 'proj_a/branches', undefined],
    ['POST', 'proj_own/branches', { branch: 'feat/x', schedules: true }],
  ]);
});

test('an archival is retried until live attempts have stopped', async () => {
  archiveReplies.push(
    { id: 'env_1', isArchived: false, canceled: 7, liveRuns: 2 },
    { id: 'env_1', isArchived: true, canceled: 1, liveRuns: 0 },
  );
  expect(await branches.archive('feat/x', { cancelRuns: true })).toEqual({ id: 'env_1', canceled: 8 });
  expect(requests()).toEqual(
    Array.from({ length: 2 }, () => [
      'POST',
      'proj_own/branches/archive',
      { branch: 'feat/x', cancelRuns: true },
    ]),
  );
});
