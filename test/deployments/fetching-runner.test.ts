import { expect, onTestFinished, test } from 'vitest';
import type { RunnerInfo } from '../../packages/contract/src/operations/runners.ts';
import { connect } from '../../packages/server/src/db/connect.ts';
import { installation } from '../access/installation.ts';
import { deployed, fetchingRunner, needing, projectOf } from '../support/deployment.ts';
import { startRunner } from '../../packages/millrace/src/serve-folder/start.ts';
import { promote } from '../support/promote.ts';
import { testServer, type TestServer } from '../support/server.ts';

const timeout = 30_000;

/** A task that returns the text of its version, one that fails once, one that waits for a token, and one that sleeps. */
const tasksOf = (text: string): Record<string, string> => ({
  'tasks/all.ts': `
    import { task, wait } from '@millrace/sdk';
    const text = '${text}';
    export const say = task({ id: 'say', run: async () => text });
    export const again = task({
      id: 'again',
      retry: { maxAttempts: 2, minTimeoutInMs: 1_500, randomize: false },
      run: async (_: unknown, { ctx }) => {
        if (ctx.attempt.number === 1) throw new Error('the first attempt');
        return text;
      },
    });
    export const token = task({ id: 'token', run: async (payload: { id: string }) => {
      await wait.forToken(payload.id);
      return text;
    } });
    export const sleep = task({ id: 'sleep', run: async () => { await wait.for({ seconds: 2 }); return text; } });
  `,
});

const trigger = async (server: TestServer, task: string, payload: unknown = {}): Promise<string> =>
  (await server.ask(`/api/v1/tasks/${task}/trigger`, { method: 'POST', body: { payload } })).body
    .id as string;

const retrieve = async (server: TestServer, run: string) => {
  const { body } = await server.ask(`/api/v3/runs/${run}`);
  return { status: body.status as string, output: body.output as unknown, version: body.version as string };
};

const ended = async (server: TestServer, run: string) => {
  await expect.poll(async () => (await retrieve(server, run)).status, { timeout }).toBe('COMPLETED');
  return retrieve(server, run);
};

const reasonOf = async (server: TestServer, run: string): Promise<string> =>
  (await server.ask(`/api/v1/runs/${run}/reason`)).body.message as string;

test('a runner without a folder serves the deployed version, and promotion waits for it to be loaded', async () => {
  const server = await testServer();
  const version = await deployed(server, tasksOf('one'));
  const tooEarly = await server.ask(`/api/v1/deployments/${version}/promote`, { method: 'POST' });
  expect([tooEarly.status, tooEarly.body.error]).toEqual([
    409,
    expect.stringContaining('No connected runner'),
  ]);
  const { runner, loaded } = await fetchingRunner(server);
  expect(runner.version).toBeNull();
  await expect.poll(() => loaded.map((entry) => entry.version), { timeout }).toEqual([version]);
  await expect
    .poll(async () => (await server.ask(`/api/v1/deployments/${version}/promote`, { method: 'POST' })).status)
    .toBe(200);
  const run = await trigger(server, 'say');
  expect(await ended(server, run)).toEqual({ status: 'COMPLETED', output: 'one', version });
}, 60_000);

test('a version that becomes ready is loaded by connected runners, and a run after its promotion executes on it', async () => {
  const server = await testServer();
  const first = await fetchingRunner(server);
  const version = await deployed(server, tasksOf('one'));
  await expect.poll(() => first.loaded.length, { timeout }).toBe(1);
  await promote(server.url, server.keys.prod, version);
  const newer = await deployed(server, tasksOf('two'));
  await expect.poll(() => first.loaded.length, { timeout }).toBe(2);
  await promote(server.url, server.keys.prod, newer);
  expect((await ended(server, await trigger(server, 'say'))).output).toBe('two');
}, 60_000);

test('an empty runner that replaces another continues retries, waits and sleeps of an old version', async () => {
  const server = await testServer();
  const old = await deployed(server, tasksOf('old'));
  const first = await fetchingRunner(server);
  await promote(server.url, server.keys.prod, old);
  const token = await server.ask('/api/v1/waitpoints/tokens', { method: 'POST', body: {} });
  const runs = await Promise.all([
    trigger(server, 'again'),
    trigger(server, 'token', { id: token.body.id }),
    trigger(server, 'sleep'),
  ]);
  await expect
    .poll(() => Promise.all(runs.slice(1).map(async (run) => (await retrieve(server, run)).status)), {
      timeout,
    })
    .toEqual(['WAITING', 'WAITING']);
  await promote(server.url, server.keys.prod, await deployed(server, tasksOf('new')));
  await first.runner.stop({ waitMs: 0 });
  const second = await fetchingRunner(server);
  await server.ask(`/api/v1/waitpoints/tokens/${token.body.id}/complete`, { method: 'POST', body: {} });
  for (const run of runs) expect(await ended(server, run)).toMatchObject({ output: 'old', version: old });
  expect((await ended(server, await trigger(server, 'say'))).output).toBe('new');
  expect(second.loaded.map((entry) => entry.version)).toContain(old);
}, 90_000);

test('two folders that are started in turn never change the current version', async () => {
  const server = await testServer();
  const folders = await Promise.all(['one', 'two'].map((text) => projectOf(tasksOf(text))));
  const start = (projectDir: string) =>
    startRunner({ url: server.url, secretKey: server.keys.prod, projectDir, watch: false, isStrict: true });
  const current = async () => (await server.ask('/api/v1/deployments/current')).body.version as string;
  const [a, b] = [await start(folders[0]!), await start(folders[1]!)];
  await promote(server.url, server.keys.prod, b.version!);
  for (let times = 0; times < 2; times += 1) {
    for (const folder of folders) await (await start(folder)).stop({ waitMs: 0 });
    expect(await current()).toBe(b.version);
  }
  expect((await ended(server, await trigger(server, 'say'))).output).toBe('two');
  await Promise.all([a, b].map((runner) => runner.stop({ waitMs: 0 })));
}, 90_000);

test('a version is not assigned to a runner that lacks its label or its Node.js, and the reason names it', async () => {
  const server = await testServer();
  await fetchingRunner(server, { labels: ['ffmpeg'] });
  const version = await deployed(server, tasksOf('one'), needing({ requires: ['gpu'] }));
  await promote(server.url, server.keys.prod, version);
  const run = await trigger(server, 'say');
  expect(await reasonOf(server, run)).toMatch(/lacks the label "gpu"\.$/);
  const newer = await deployed(server, tasksOf('two'), needing({ nodeMajor: 999 }));
  await promote(server.url, server.keys.prod, newer);
  await expect.poll(() => reasonOf(server, run), { timeout }).toMatch(/lacks Node\.js 999 \(it has \d+\)\.$/);
  await promote(server.url, server.keys.prod, version);
  const { loaded } = await fetchingRunner(server, { labels: ['gpu'] });
  expect((await ended(server, run)).output).toBe('one');
  expect(loaded.map((entry) => entry.version)).toEqual([version]);
}, 60_000);

test('a version that a runner cannot load is returned, named by the reason, and left to another runner', async () => {
  const server = await testServer();
  const sql = connect(server.database, { name: 'test', max: 1 });
  onTestFinished(() => sql.end({ timeout: 1 }));
  const version = await deployed(server, tasksOf('one'));
  // As if a disk had changed it.
  await sql`update blob_pieces set data = set_byte(data, 20, 255 - get_byte(data, 20))`;
  const { unable } = await fetchingRunner(server);
  await promote(server.url, server.keys.prod, version);
  const run = await trigger(server, 'say');
  await expect
    .poll(() => reasonOf(server, run), { timeout })
    .toMatch(
      /could not load it \(.* (does not match its declared digest|cannot be decompressed) \(fetched 3 times\)\)\.$/,
    );
  // It is not retried repeatedly.
  expect(unable.length).toBeLessThan(3);
  await sql`update blob_pieces set data = set_byte(data, 20, 255 - get_byte(data, 20))`;
  await fetchingRunner(server);
  expect((await ended(server, run)).output).toBe('one');
}, 60_000);

test('runners of all servers are listed, drained and stopped through any of them', async () => {
  const { ask, another, keys, server } = await installation();
  const other = await another();
  const target = { url: other.url, keys };
  const version = await deployed({ url: server.url, keys }, tasksOf('one'));
  const { runner, loaded } = await fetchingRunner(target, { labels: ['gpu'], concurrency: 7 });
  await expect.poll(() => loaded.length, { timeout }).toBe(1);
  await promote(server.url, keys.prod, version);
  const key = keys.prod;
  const list = async () => (await ask('GET /api/v1/runners', { key })).body.data as RunnerInfo[];
  expect(await list()).toEqual([
    expect.objectContaining({
      id: runner.id,
      pid: process.pid,
      labels: ['gpu'],
      versions: [version],
      slots: 7,
      running: 0,
      draining: false,
      platform: expect.stringContaining('-') as string,
    }),
  ]);
  expect((await ask(`POST /api/v1/runners/${runner.id}/drain`, { key: keys.stg })).status).toBe(404);
  expect((await ask(`POST /api/v1/runners/${runner.id}/drain`, { key })).body).toMatchObject({
    draining: true,
  });
  // The notification from the other server is in transit.
  await new Promise((resolve) => setTimeout(resolve, 500));
  const { body } = await ask('POST /api/v1/tasks/say/trigger', { key, body: {} });
  const reason = async () =>
    (await ask(`GET /api/v1/runs/${body.id}/reason`, { key })).body.message as string;
  expect(await reason()).toMatch(/accepts no more attempts\.$/);
  const status = async () => (await ask(`GET /api/v3/runs/${body.id}`, { key })).body.status as string;
  expect(await status()).toBe('QUEUED');
  await ask(`POST /api/v1/runners/${runner.id}/drain`, { key, body: { draining: false } });
  await expect.poll(status, { timeout }).toBe('COMPLETED');
  expect((await ask(`POST /api/v1/runners/${runner.id}/stop`, { key })).body).toMatchObject({
    draining: true,
  });
  // A stopping runner keeps stopping.
  const resumed = await ask(`POST /api/v1/runners/${runner.id}/drain`, { key, body: { draining: false } });
  if (resumed.status === 200) expect(resumed.body.draining).toBe(true);
  expect(await runner.ended).toBeNull();
  await expect.poll(list, { timeout }).toEqual([]);
}, 60_000);

test('a version without a runner that has loaded it is loaded when it is promoted, on any server', async () => {
  const { ask, another, keys, server } = await installation();
  const other = await another();
  const here = { url: server.url, keys };
  const [old, between] = [await deployed(here, tasksOf('old')), await deployed(here, tasksOf('between'))];
  await promote(server.url, keys.prod, await deployed(here, tasksOf('new')));
  const { loaded } = await fetchingRunner({ url: other.url, keys });
  await expect.poll(() => loaded.length, { timeout }).toBe(1);
  const back = (version: string) =>
    ask(`POST /api/v1/deployments/${version}/promote?allowRollbacks=true`, { key: keys.prod });
  expect(await back(old)).toMatchObject({ status: 409, body: { code: 'version_not_loaded' } });
  await expect.poll(async () => (await back(old)).status).toBe(200);
  expect(loaded.map(({ version }) => version)).not.toContain(between);
}, 60_000);
