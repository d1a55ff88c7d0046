import { afterEach, beforeEach, expect, test } from 'vitest';
import { configure, runs, tasks } from '../index.ts';
import { startServer, type Answer, type HttpServer, type Received } from '../testing/http-server.ts';
import { isLarge } from './packets.ts';

/** Content may be stored on another host than the server. */
let store: HttpServer;
let server: HttpServer;
let answers: Answer[];
const answer = ({ path }: Received): Answer => {
  const presignedUrl = `${store.url}/signed?for=me`;
  if (path.startsWith('/api/v2/packets/')) return { body: { presignedUrl, storagePath: 'stored/name' } };
  if (path.startsWith('/api/v3/runs/')) {
    return { body: { id: 'run_1', relatedRuns: {}, outputPresignedUrl: presignedUrl } };
  }
  return { body: { id: 'run_1', isCached: false } };
};
beforeEach(async () => {
  answers = [];
  store = await startServer(() => answers.shift() ?? { body: {} });
  server = await startServer(answer);
  configure({ baseURL: server.url, secretKey: 'sentinel', retry: { minTimeoutInMs: 1 } });
});
afterEach(() => Promise.all([store.close(), server.close()]));

const large = { text: 'x'.repeat(200_000) };

test('a large payload is stored first, without the key, and its trigger references it', async () => {
  answers = [{ status: 503 }, {}];
  await tasks.trigger('echo', large);
  expect(server.received.map(({ method, body }) => [method, body])).toEqual([
    ['PUT', undefined],
    ['POST', { payload: 'stored/name', options: { payloadType: 'application/store' } }],
  ]);
  expect(server.received[0]?.path).toMatch(/^\/api\/v2\/packets\/trigger%2F[0-9a-f-]{36}%2Fpayload$/);
  // The request was retried.
  expect(store.received.map(({ method, path, body }) => [method, path, body])).toEqual([
    ['PUT', '/signed?for=me', large],
    ['PUT', '/signed?for=me', large],
  ]);
  expect(JSON.stringify(store.received.map(({ headers }) => headers))).not.toContain('sentinel');
  expect(store.received[0]?.headers['content-type']).toBe('application/json');
});

test('a rejection by the store is thrown, and nothing is triggered', async () => {
  answers = [{ status: 413, body: { error: 'too large' } }];
  await expect(tasks.trigger('echo', large)).rejects.toMatchObject({
    status: 413,
    message: expect.stringContaining('too large') as string,
  });
  expect(server.received).toHaveLength(1);
});

test.each([
  ['application/json', '{"n":1}', { n: 1 }],
  ['application/super+json', '{"json":{"n":1},"meta":{}}', { n: 1 }],
  ['text/plain', 'text', 'text'],
])('an output that is stored as %s is read', async (type, body, output) => {
  answers = [{ headers: { 'content-type': type }, body }];
  const run = await runs.retrieve('run_1');
  expect(run.output).toEqual(output);
  expect(run).not.toHaveProperty('outputPresignedUrl');
});

test('large means 128 KiB or more, in bytes', () => {
  const kib = 1_024;
  expect([isLarge('x'.repeat(128 * kib - 1)), isLarge('x'.repeat(128 * kib))]).toEqual([false, true]);
  expect([isLarge('é'.repeat(64 * kib - 1)), isLarge('é'.repeat(64 * kib))]).toEqual([false, true]);
  expect(isLarge('€'.repeat(43_691))).toBe(true);
});
