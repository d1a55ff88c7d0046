import { afterEach, beforeEach, expect, test } from 'vitest';
import { configure, NotFoundError, PollTimeoutError, runs } from '../index.ts';
import { startServer, type Answer, type HttpServer, type Received } from '../testing/http-server.ts';

let server: HttpServer;
let answer: (request: Received) => Answer;
beforeEach(async () => {
  server = await startServer((request) => answer(request));
  configure({ baseURL: server.url, secretKey: 'k', retry: { minTimeoutInMs: 1 } });
});
afterEach(() => server.close());

const related = { id: 'run_0', createdAt: '2026-11-21T00:00:00.000Z' };
const wire = {
  id: 'run_1',
  status: 'COMPLETED',
  isCompleted: true,
  output: { n: 1 },
  createdAt: '2026-11-21T10:00:00.500Z',
};

test('retrieve returns times as dates, also in related runs', async () => {
  answer = () => ({ body: { ...wire, relatedRuns: { parent: related, children: [related] } } });
  const run = await runs.retrieve('run_1');
  expect(run).toMatchObject({
    id: 'run_1',
    output: { n: 1 },
    createdAt: new Date('2026-11-21T10:00:00.500Z'),
  });
  expect(run.relatedRuns.parent?.createdAt).toEqual(new Date('2026-11-21'));
  expect(run.relatedRuns.children?.[0]?.createdAt).toEqual(new Date('2026-11-21'));
  expect(run.startedAt).toBeUndefined();
});

test('a run may be named by its handle', async () => {
  answer = () => ({ body: { ...wire, relatedRuns: {} } });
  await runs.retrieve({
    id: 'run_9',
    taskIdentifier: 't',
    isCached: false,
    isDropped: false,
    publicAccessToken: undefined,
  });
  expect(server.received[0]?.path).toBe('/api/v3/runs/run_9');
});

test('an invalid run is rejected before a request', async () => {
  for (const reference of ['', {}, undefined, 5] as never[]) {
    await expect(runs.retrieve(reference)).rejects.toThrow(/run_/);
    await expect(runs.cancel(reference)).rejects.toThrow(/run_/);
  }
  expect(server.received).toHaveLength(0);
});

test('retrieve retries an unknown run while the server requests it', async () => {
  answer = () => ({ status: 404, headers: { 'x-should-retry': 'true' }, body: { error: 'Not found' } });
  await expect(runs.retrieve('run_x')).rejects.toThrow(NotFoundError);
  expect(server.received).toHaveLength(5);
});

test('poll repeats until the run has ended', async () => {
  answer = () => ({ body: { ...wire, relatedRuns: {}, isCompleted: server.received.length === 3 } });
  const run = await runs.poll('run_1', { pollIntervalMs: 1 });
  expect(run.isCompleted).toBe(true);
  expect(server.received).toHaveLength(3);
});

test('poll times out and reports the status of the run', async () => {
  answer = () => ({ body: { ...wire, status: 'QUEUED', relatedRuns: {}, isCompleted: false } });
  const error = await runs
    .poll('run_1', { pollIntervalMs: 1, timeoutInMs: 20 })
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(PollTimeoutError);
  expect(error).toMatchObject({
    message: 'Run run_1 is still QUEUED after 0.02 s',
    run: { status: 'QUEUED' },
  });
});

test('poll stops when its signal is aborted, also in a pause', async () => {
  const controller = new AbortController();
  answer = () => {
    setImmediate(() => controller.abort(new Error('enough')));
    return { body: { ...wire, relatedRuns: {}, isCompleted: false } };
  };
  await expect(runs.poll('run_1', { pollIntervalMs: 60_000, signal: controller.signal })).rejects.toThrow(
    'enough',
  );
});

test('cancel uses the second version of its route', async () => {
  answer = () => ({ body: { id: 'run_1' } });
  expect(await runs.cancel('run_1')).toEqual({ id: 'run_1' });
  expect(server.received[0]).toMatchObject({
    method: 'POST',
    path: '/api/v2/runs/run_1/cancel',
    body: undefined,
  });
});

const line = (message: string) => ({ attempt: 1, at: '2026-11-21T00:00:00.000Z', level: 'info', message });

test('logs come page by page or line by line', async () => {
  answer = ({ path }) =>
    path.includes('after=2')
      ? { body: { lines: [line('c')] } }
      : { body: { lines: [line('a'), line('b')], next: 2 } };
  const page = await runs.logs('run_1', { limit: 2 });
  expect(page.data[0]).toEqual({ attempt: 1, at: new Date('2026-11-21'), level: 'info', message: 'a' });
  expect(page.hasNextPage()).toBe(true);
  const messages: string[] = [];
  for await (const { message } of runs.logs('run_1', { limit: 2 })) messages.push(message);
  expect(messages).toEqual(['a', 'b', 'c']);
  expect(server.received.at(-1)?.path).toBe('/api/v1/runs/run_1/logs?after=2&limit=2');
});
