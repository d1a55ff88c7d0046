import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { configure, stats } from '@millrace/sdk';
import { startProject } from '../support/project.ts';
import { startTestServer, testServer, type TestServer } from '../support/server.ts';

const files = {
  'tasks/work.ts': `
    import { queue, task, wait } from '@millrace/sdk';
    const slow = queue({ name: 'slow', concurrencyLimit: 1 });
    export const nap = task({ id: 'nap', queue: slow, run: async () => { await new Promise((done) => setTimeout(done, 400)); } });
    export const broken = task({ id: 'broken', retry: { maxAttempts: 2, minTimeoutInMs: 10 }, run: async () => { throw new Error('no'); } });
  `,
};

test('executed runs are in the time series of the environment, the task, the queue and the version', async () => {
  const server = await testServer();
  await startProject(server, files);
  configure({ baseURL: server.url, secretKey: server.keys.prod });
  const trigger = (task: string) => server.ask(`/api/v1/tasks/${task}/trigger`, { method: 'POST', body: {} });
  for (let n = 0; n < 5; n++) await trigger('nap');
  await trigger('broken');
  const patience = { timeout: 40_000, interval: 250 };
  const total = async (query: Parameters<typeof stats.retrieve>[0]) =>
    (await stats.retrieve({ period: '1h', ...query })).series[0]?.total;
  await expect
    .poll(() => total({}), patience)
    .toMatchObject({ triggered: 6, completed: 5, failed: 1, retried: 1, newErrors: 1 });

  const nap = await total({ task: 'nap' });
  expect(nap).toMatchObject({
    triggered: 5,
    completed: 5,
    failed: 0,
    duration: { count: 5 },
    wait: { count: 5 },
  });
  expect(nap?.duration.p50).toBeGreaterThan(350);
  expect(nap?.duration.p50).toBeLessThan(1_500);
  // One at a time: the last one waited for four others.
  expect(nap?.wait.p99).toBeGreaterThan(1_000);
  expect(await total({ queue: 'slow' })).toMatchObject({ triggered: 5, completed: 5 });
  // The largest ones are read from hourly rows, which are updated every ten seconds.
  const largest = async () => (await stats.retrieve({ by: 'version', period: '1h' })).series;
  await expect.poll(async () => (await largest()).length, patience).toBe(1);
  const versions = await largest();
  expect(versions).toMatchObject([{ total: { completed: 5, failed: 1 } }]);
  expect(await total({ version: versions[0]?.name ?? '' })).toMatchObject({ completed: 5, failed: 1 });
  const { series, stepMs, from, to } = await stats.retrieve({ by: 'task', period: '1h' });
  expect(series.map(({ name }) => name)).toEqual(['nap', 'broken']);
  expect(stepMs).toBe(60_000);
  for (const { points } of series) {
    expect(points).toHaveLength((to.getTime() - from.getTime()) / stepMs);
    expect(points.reduce((sum, point) => sum + point.triggered, 0)).toBe(
      points === series[0]?.points ? 5 : 1,
    );
  }
  // Other environments do not see it.
  const other = await server.ask('/api/v1/stats?by=task', { key: server.keys.stg });
  expect(other.body.series).toEqual([]);
  expect(await total({ task: 'nobody' })).toMatchObject({ triggered: 0, duration: { count: 0, p95: null } });
});

test('the depth of a queue is sampled', async () => {
  const server = await testServer();
  await startProject(server, files);
  await server.ask('/api/v1/queues/slow/pause', {
    method: 'POST',
    body: { type: 'custom', action: 'pause' },
  });
  for (let n = 0; n < 7; n++) await server.ask('/api/v1/tasks/nap/trigger', { method: 'POST', body: {} });
  const read = async (path: string) =>
    (await server.ask(`/api/v1/stats?period=1h${path}`)).body.series[0].total;
  await expect
    .poll(() => read('&queue=slow'), { timeout: 20_000, interval: 250 })
    .toMatchObject({ waiting: 7 });
  expect((await read('')).oldestMs).toBeGreaterThan(0);
  const metrics = await (await fetch(server.metricsUrl)).text();
  expect(metrics).toMatch(/millrace_runs_waiting\{[^}]*queue="slow",state="paused"\} 7\n/);
});

describe('GET /api/v1/stats rejects', () => {
  const ends: (() => Promise<void>)[] = [];
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer((end) => void ends.push(end));
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });

  test.each([
    ['period=3d&step=1m', /^step: .*Use step=/],
    ['period=30h&step=1m', /^step: the range has \d+ points.*Use step=/],
    ['period=9999d', /^The range is too wide/],
    ['period=nonsense', /period/],
    ['step=90s', /^step: must be whole minutes/],
    ['step=0m', /step/],
    ['from=2027-01-01&to=2026-01-01', /^from: must be before/],
    ['by=colour', /by/],
    ['limit=-1&by=task', /limit/],
    ['limit=1000&by=task', /limit/],
    ['task=a&queue=b', /^task and queue: use at most one/],
    ['task=', /task/],
    ['task=%00', /./],
  ])('%s', async (query, sentence) => {
    const { status, body } = await server.ask(`/api/v1/stats?${query}`);
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringMatching(/error/)]);
    expect(`${body.error} ${JSON.stringify(body.details ?? '')}`).toMatch(sentence);
  });
});
