import { afterEach, beforeEach, expect, test } from 'vitest';
import { configure, metadata, queues, runs, tags } from '../index.ts';
import { runScopes } from '../run-scope.ts';
import { startServer, type Answer, type HttpServer, type Received } from '../testing/http-server.ts';

let server: HttpServer;
let answer: (request: Received) => Answer;
beforeEach(async () => {
  server = await startServer((request) => answer(request));
  configure({ baseURL: server.url, secretKey: 'k', retry: { minTimeoutInMs: 1 } });
});
afterEach(() => server.close());

const sent = () => server.received.map(({ method, path, body }) => [method, path, body]);
const queries = () =>
  server.received.map(({ path }) => Object.fromEntries(new URL(path, 'http://x').searchParams));

const item = { id: 'run_1', createdAt: '2026-11-21T10:00:00.500Z', env: { id: 'e', name: 'prod' } };

test('list sends every filter in the form of the API', async () => {
  answer = () => ({ body: { data: [item], pagination: {} } });
  const page = await runs.list({
    status: ['QUEUED', 'FAILED'],
    taskIdentifier: 'echo',
    version: '20261121.1',
    tag: ['a', 'b'],
    queue: [
      { type: 'task', name: 'echo' },
      { type: 'custom', name: 'mail' },
    ],
    machine: 'micro',
    isTest: false,
    schedule: 'sched_1',
    error: 'error_1',
    batch: 'batch_1',
    period: '7d',
    from: new Date(1_000),
    to: 2_000,
    limit: 10,
    after: 'run_0',
  });
  expect(page.data).toEqual([{ ...item, createdAt: new Date('2026-11-21T10:00:00.500Z') }]);
  expect(queries()).toEqual([
    {
      'filter[status]': 'QUEUED,FAILED',
      'filter[taskIdentifier]': 'echo',
      'filter[version]': '20261121.1',
      'filter[tag]': 'a,b',
      'filter[queue]': 'task/echo,mail',
      'filter[machine]': 'micro',
      'filter[isTest]': 'false',
      'filter[schedule]': 'sched_1',
      'filter[error]': 'error_1',
      'filter[batch]': 'batch_1',
      'filter[createdAt][period]': '7d',
      'filter[createdAt][from]': '1000',
      'filter[createdAt][to]': '2000',
      'page[size]': '10',
      'page[after]': 'run_0',
    },
  ]);
});

test('list of a project sends it in the path, and keeps its filters across pages', async () => {
  answer = ({ path }) => ({
    body: { data: [item], pagination: path.includes('after') ? {} : { next: 'run_1' } },
  });
  const ids: string[] = [];
  for await (const { id } of runs.list('proj_1', { env: ['prod', 'stg'] })) ids.push(id);
  expect(ids).toEqual(['run_1', 'run_1']);
  expect(server.received[0]?.path).toMatch(/^\/api\/v1\/projects\/proj_1\/runs\?/);
  expect(queries()).toEqual([
    { 'filter[env]': 'prod,stg' },
    { 'filter[env]': 'prod,stg', 'page[after]': 'run_1' },
  ]);
});

test('replay sends no body, or the new payload in the form of its type', async () => {
  answer = () => ({ body: { id: 'run_2' } });
  expect(await runs.replay('run_1')).toEqual({ id: 'run_2' });
  await runs.replay({ id: 'run_1' }, { payload: { n: 1 } });
  await runs.replay('run_1', { payload: 'text' });
  await runs.replay('run_1', { payload: { at: new Date(0) } });
  expect(sent().map(([, , body]) => body)).toEqual([
    undefined,
    { payload: { n: 1 }, payloadType: 'application/json' },
    { payload: 'text', payloadType: 'text/plain' },
    { payload: expect.stringContaining('"meta"'), payloadType: 'application/super+json' },
  ]);
});

test('reschedule writes dates as ISO 8601', async () => {
  answer = () => ({ body: { ...item, relatedRuns: {}, delayedUntil: '2030-01-01T00:00:00.000Z' } });
  const run = await runs.reschedule('run_1', { delay: new Date('2030-01-01') });
  await runs.reschedule('run_1', { delay: '1h' });
  expect(run.delayedUntil).toEqual(new Date('2030-01-01'));
  expect(sent()).toEqual([
    ['POST', '/api/v1/runs/run_1/reschedule', { delay: '2030-01-01T00:00:00.000Z' }],
    ['POST', '/api/v1/runs/run_1/reschedule', { delay: '1h' }],
  ]);
});

test('reason returns the end of a delay as a date', async () => {
  answer = () => ({
    body: { id: 'run_1', status: 'DELAYED', reason: 'delay', until: '2030-01-01T00:00:00.000Z' },
  });
  expect(await runs.reason('run_1')).toMatchObject({ reason: 'delay', until: new Date('2030-01-01') });
});

test('queues are named by id or by type and name', async () => {
  const queue = {
    id: 'queue_1',
    name: 'mail',
    type: 'custom',
    concurrency: { overriddenAt: '2030-01-01T00:00:00.000Z' },
    rateLimit: { overriddenAt: null, nextStartAt: '2030-01-02T00:00:00.000Z' },
  };
  answer = () => ({ body: queue });
  const found = await queues.retrieve({ type: 'custom', name: 'a/b' });
  expect(found.concurrency.overriddenAt).toEqual(new Date('2030-01-01'));
  expect(found.rateLimit).toEqual({ overriddenAt: null, nextStartAt: new Date('2030-01-02') });
  await queues.pause('queue_1');
  await queues.resume({ type: 'task', name: 'echo' });
  await queues.overrideConcurrencyLimit(found, 3);
  await queues.resetConcurrencyLimit(found);
  await queues.updateEnvironment({ concurrencyLimit: null });
  expect(sent()).toEqual([
    ['GET', '/api/v1/queues/a%2Fb?type=custom', undefined],
    ['POST', '/api/v1/queues/queue_1/pause', { type: 'id', action: 'pause' }],
    ['POST', '/api/v1/queues/echo/pause', { type: 'task', action: 'resume' }],
    ['POST', '/api/v1/queues/mail/concurrency/override', { type: 'custom', concurrencyLimit: 3 }],
    ['POST', '/api/v1/queues/mail/concurrency/reset', { type: 'custom' }],
    ['PUT', '/api/v1/concurrency', { concurrencyLimit: null }],
  ]);
  for (const wrong of ['', {}, undefined, { type: 'other', name: 'x' }] as never[]) {
    await expect(queues.retrieve(wrong)).rejects.toThrow(/queue_/);
  }
});

test('queues are listed page by page', async () => {
  answer = ({ path }) => {
    const page = Number(new URL(path, 'http://x').searchParams.get('page'));
    const rateLimit = { overriddenAt: null, nextStartAt: null };
    const queue = { id: `queue_${page}`, concurrency: { overriddenAt: null }, rateLimit };
    return { body: { data: [queue], pagination: { currentPage: page, totalPages: 2, count: 2 } } };
  };
  const ids: string[] = [];
  for await (const { id } of queues.list()) ids.push(id);
  expect(ids).toEqual(['queue_1', 'queue_2']);
});

test('tags and metadata apply to the calling run, or to the given one', async () => {
  answer = () => ({ body: { message: 'ok', metadata: { n: 1 } } });
  await expect(tags.add('a')).rejects.toThrow(/outside a run/);
  await tags.add('a', { run: 'run_9' });
  const { AsyncLocalStorage } = await import('node:async_hooks');
  const scopes = runScopes(() => new AsyncLocalStorage());
  await scopes.run({ run: 'run_1', attempt: 1, onLog() {} }, async () => {
    await tags.add(['a', 'b']);
  });
  const run = { id: 'run_1' };
  expect(await metadata.increment('n', 1, { run })).toEqual({ n: 1 });
  await metadata.parent.append('seen', 'x', { run });
  await metadata.root.replace({ all: true }, { run });
  await metadata.del('n', { run: { id: 'run_2' } });
  expect(await metadata.current({ run })).toEqual({ n: 1 });
  expect(sent()).toEqual([
    ['POST', '/api/v1/runs/run_9/tags', { tags: 'a' }],
    ['POST', '/api/v1/runs/run_1/tags', { tags: ['a', 'b'] }],
    ['PUT', '/api/v1/runs/run_1/metadata', { operations: [{ type: 'increment', key: 'n', value: 1 }] }],
    [
      'PUT',
      '/api/v1/runs/run_1/metadata',
      { parentOperations: [{ type: 'append', key: 'seen', value: 'x' }] },
    ],
    ['PUT', '/api/v1/runs/run_1/metadata', { rootOperations: [{ type: 'update', value: { all: true } }] }],
    ['PUT', '/api/v1/runs/run_2/metadata', { operations: [{ type: 'delete', key: 'n' }] }],
    ['GET', '/api/v1/runs/run_1/metadata', undefined],
  ]);
});
