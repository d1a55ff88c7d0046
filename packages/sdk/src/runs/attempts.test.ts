import { afterEach, beforeEach, expect, test } from 'vitest';
import { configure, errors, runs, schedules, tasks } from '../index.ts';
import { startServer, type Answer, type HttpServer, type Received } from '../testing/http-server.ts';

let server: HttpServer;
let answer: (request: Received) => Answer;
beforeEach(async () => {
  server = await startServer((request) => answer(request));
  configure({ baseURL: server.url, secretKey: 'k', retry: { minTimeoutInMs: 1 } });
});
afterEach(() => server.close());

const [first, second] = ['2026-11-21T10:00:00.000Z', '2026-11-21T10:00:01.000Z'];

test('attempts have dates, and come page by page', async () => {
  const attempt = {
    number: 1,
    status: 'FAILED',
    waitedFor: [{ kind: 'queue', from: first, until: second }],
    startedAt: first,
  };
  answer = ({ path }) =>
    path.includes('after')
      ? { body: { data: [{ ...attempt, number: 2, endedAt: second, retryAt: second }], pagination: {} } }
      : { body: { data: [attempt], pagination: { next: '7' } } };
  const found = [];
  for await (const each of runs.attempts('run_1', { limit: 1 })) found.push(each);
  expect(found).toMatchObject([
    {
      number: 1,
      startedAt: new Date(first),
      waitedFor: [{ kind: 'queue', from: new Date(first), until: new Date(second) }],
    },
    { number: 2, endedAt: new Date(second), retryAt: new Date(second) },
  ]);
  expect(server.received.map(({ path }) => decodeURIComponent(path))).toEqual([
    '/api/v1/runs/run_1/attempts?page[size]=1',
    '/api/v1/runs/run_1/attempts?page[after]=7&page[size]=1',
  ]);
});

test('a timeline has dates and a cursor for the next page', async () => {
  const entries = [{ kind: 'run', id: 'run_1', runId: 'run_1', startedAt: first, endedAt: second }];
  answer = () => ({ body: { at: second, entries, pagination: { next: 'run_2' } } });
  const timeline = await runs.timeline('run_1', { depth: 1, limit: 2 });
  expect(timeline).toMatchObject({
    at: new Date(second),
    entries: [{ kind: 'run', startedAt: new Date(first), endedAt: new Date(second) }],
    next: 'run_2',
  });
});

test('counts, tasks, ticks and the history of an error match the API, with dates', async () => {
  answer = ({ path }) => {
    if (path.includes('/count')) return { body: { count: 10_000, isExact: false } };
    if (path.includes('/ticks'))
      return {
        body: {
          data: [{ outcome: 'skipped', nominalAt: first, untilAt: second, reason: 'missed' }],
          pagination: {},
        },
      };
    if (path.includes('/history'))
      return {
        body: {
          data: [{ id: '1', at: first, act: 'regressed', before: { status: 'resolved', resolvedAt: first } }],
          pagination: {},
        },
      };
    return {
      body: {
        id: 'mail',
        recent: { from: first },
        lastRuns: [{ id: 'run_1', createdAt: first, finishedAt: second }],
      },
    };
  };
  expect(await runs.count({ status: 'FAILED', period: '1d' })).toEqual({ count: 10_000, isExact: false });
  expect(decodeURIComponent(server.received[0]?.path ?? '')).toBe(
    '/api/v1/runs/count?filter[status]=FAILED&filter[createdAt][period]=1d',
  );
  expect((await schedules.ticks('sched_1')).data).toMatchObject([
    { nominalAt: new Date(first), untilAt: new Date(second) },
  ]);
  expect((await errors.history('error_1')).data).toMatchObject([
    { at: new Date(first), before: { resolvedAt: new Date(first) } },
  ]);
  expect(await tasks.retrieve('mail')).toMatchObject({
    recent: { from: new Date(first) },
    lastRuns: [{ createdAt: new Date(first), finishedAt: new Date(second) }],
  });
});
