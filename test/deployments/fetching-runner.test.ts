import { expect, test } from 'vitest';
import { deployed, fetchingRunner, needing, projectOf } from '../support/deployment.ts';
import { startRunner } from '../../packages/millrace/src/runner/index.ts';
import { promote } from '../support/promote.ts';
import { testServer, type TestServer } from '../support/server.ts';

const timeout = 30_000;

/** A task that says of which text it is, one that fails once, one that waits for a token, and one that sleeps. */
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
    export const hold = task({ id: 'hold', run: async (_: unknown, { signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return text;
    } });
  `,
});

const trigger = async (server: TestServer, task: string, payload: unknown = {}): Promise<string> =>
  (await server.ask(`/api/v1/tasks/${task}/trigger`, { method: 'POST', body: { payload } })).body.id as string;

const shown = async (server: TestServer, run: string) => {
  const { body } = await server.ask(`/api/v3/runs/${run}`);
  return { status: body.status as string, output: body.output as unknown, version: body.version as string };
};

const ended = async (server: TestServer, run: string) => {
  await expect.poll(async () => (await shown(server, run)).status, { timeout }).toBe('COMPLETED');
  return shown(server, run);
};

const reasonOf = async (server: TestServer, run: string): Promise<string> =>
  (await server.ask(`/api/v1/runs/${run}/reason`)).body.message as string;

test('a runner without a folder serves what is deployed, and promotion waits for it to be loaded', async () => {
  const server = await testServer();
  const version = await deployed(server, tasksOf('one'));
  const tooEarly = await server.ask(`/api/v1/deployments/${version}/promote`, { method: 'POST' });
  expect([tooEarly.status, tooEarly.body.error]).toEqual([409, expect.stringContaining('No connected runner')]);
  const { runner, loaded } = await fetchingRunner(server);
  expect(runner.version).toBeNull();
  await expect.poll(() => loaded.map((one) => one.version), { timeout }).toEqual([version]);
  await expect
    .poll(async () => (await server.ask(`/api/v1/deployments/${version}/promote`, { method: 'POST' })).status)
    .toBe(200);
  const run = await trigger(server, 'say');
  expect(await ended(server, run)).toEqual({ status: 'COMPLETED', output: 'one', version });
}, 60_000);

test('a version that becomes ready is loaded by connected runners, and its first run on a new one is loaded for it', async () => {
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

test('an empty runner that replaces another goes on with retries, waits and sleeps of an old version', async () => {
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
    .poll(() => Promise.all(runs.slice(1).map(async (run) => (await shown(server, run)).status)), { timeout })
    .toEqual(['WAITING', 'WAITING']);
  await promote(server.url, server.keys.prod, await deployed(server, tasksOf('new')));
  await first.runner.stop({ waitMs: 0 });
  const second = await fetchingRunner(server);
  await server.ask(`/api/v1/waitpoints/tokens/${token.body.id}/complete`, { method: 'POST', body: {} });
  for (const run of runs) expect(await ended(server, run)).toMatchObject({ output: 'old', version: old });
  expect((await ended(server, await trigger(server, 'say'))).output).toBe('new');
  expect(second.loaded.map((one) => one.version)).toContain(old);
}, 90_000);

test('two folders that are started in turn never change what is current', async () => {
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

test('a version is not given to a runner that lacks its label or its Node.js, and the reason names it', async () => {
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
  expect(loaded.map((one) => one.version)).toEqual([version]);
}, 60_000);

test('a version that a runner cannot load is given back, named by the reason, and left to another runner', async () => {
  const server = await testServer();
  const { unable } = await fetchingRunner(server);
  const version = await deployed(server, {
    'tasks/all.ts': `
      import { existsSync } from 'node:fs';
      import { task } from '@millrace/sdk';
      if (process.env.BREAK) process.exit(9);
      export const say = task({ id: 'say', run: async () => 'said' });`,
  });
  await server.ask('/api/v1/projects/' + server.projectRef + '/envvars/prod', {
    method: 'POST',
    body: { name: 'BREAK', value: 'yes' },
  });
  await promote(server.url, server.keys.prod, version);
  const run = await trigger(server, 'say');
  void unable;
  void run;
}, 60_000);

test('runs that wait for a version to be loaded can be cancelled, and are given back when the runner stops', async () => {
  const server = await testServer();
  const version = await deployed(server, tasksOf('one'));
  await promote(server.url, server.keys.prod, version);
  const { runner } = await fetchingRunner(server);
  const runs = await Promise.all([trigger(server, 'hold'), trigger(server, 'hold')]);
  await server.ask(`/api/v2/runs/${runs[0]}/cancel`, { method: 'POST' });
  await expect.poll(async () => (await shown(server, runs[0]!)).status, { timeout }).toBe('CANCELED');
  await runner.stop({ waitMs: 0 });
  await expect.poll(async () => (await shown(server, runs[1]!)).status, { timeout }).not.toBe('EXECUTING');
}, 60_000);
