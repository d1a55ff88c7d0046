import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { promoteWhenLoaded } from '../../packages/millrace/src/deploy/promote.ts';
import { startPreviews, type PreviewsOptions } from '../../packages/runner/src/runner/start-previews.ts';
import { installation, type Ask, type Installation } from '../access/installation.ts';
import { deployedTo, temporary } from '../support/deployment.ts';

const timeout = 30_000;

/** Tasks that return their branch and their variables, and trigger another one. */
const tasksOf = (text: string): Record<string, string> => ({
  'tasks/all.ts': `
    import { task } from '@millrace/sdk';
    export const say = task({ id: 'say', run: async () => '${text}' });
    export const look = task({ id: 'look', run: async (_: unknown, { ctx }) => ({
      text: '${text}',
      branch: ctx.environment.branchName,
      shared: process.env.SHARED,
      own: process.env.OWN,
      ofOthers: Object.keys(process.env).filter((name) => name.startsWith('ONLY_')),
    }) });
    export const parent = task({ id: 'parent', run: async () => say.triggerAndWait({}).unwrap() });
    export const nap = task({ id: 'nap', run: async (payload: { ms: number }) => {
      await new Promise((resolve) => setTimeout(resolve, payload.ms));
      return '${text}';
    } });
  `,
});

interface Branch {
  readonly name: string;
  /** A request in this branch, with the preview key. */
  ask(request: string, options?: Ask): ReturnType<Installation['ask']>;
  /** Deploys these tasks and makes them current, once the runner has loaded them. Returns the version. */
  deploy(text: string): Promise<string>;
  trigger(task: string, payload?: unknown): Promise<string>;
  retrieve(run: string): Promise<{
    status: string;
    output: unknown;
    version: string;
    startedAt: string;
    finishedAt: string;
  }>;
  /** The output of a run. */
  ended(run: string): Promise<unknown>;
  archive(options?: { readonly cancelRuns?: boolean }): ReturnType<Installation['ask']>;
}

async function branchOf(home: Installation, name: string, server = home.server): Promise<Branch> {
  const key = home.keys.preview;
  const branches = `/api/v1/projects/${home.projectRef}/branches`;
  const created = await home.ask(`POST ${branches}`, { key, server, body: { branch: name } });
  expect(created.status).toBe(200);
  const ask: Branch['ask'] = (request, options) =>
    home.ask(request, { key, server, headers: { 'x-service-branch': name }, ...options });
  const retrieve: Branch['retrieve'] = async (run) => (await ask(`GET /api/v3/runs/${run}`)).body;
  return {
    name,
    ask,
    retrieve,
    async deploy(text) {
      const target = { url: server.url, key, branch: name };
      const version = await deployedTo(target, tasksOf(text));
      const needs = { nodeMajor: 20, platforms: [], requires: [] };
      const options = { allowRollbacks: false, force: false, waitMs: timeout };
      expect(await promoteWhenLoaded(target, version, needs, options)).toMatchObject({ version });
      return version;
    },
    async trigger(task, payload = {}) {
      const { body } = await ask(`POST /api/v1/tasks/${task}/trigger`, { body: { payload } });
      return body.id as string;
    },
    async ended(run) {
      await expect.poll(async () => (await retrieve(run)).status, { timeout }).toBe('COMPLETED');
      return (await retrieve(run)).output;
    },
    archive: (options = {}) =>
      home.ask(`POST ${branches}/archive`, { key, server, body: { branch: name, ...options } }),
  };
}

interface Previews {
  readonly runner: Awaited<ReturnType<typeof startPreviews>>;
  /** The runner's branch events, in order. */
  readonly events: readonly string[];
}

async function previewsOf(
  home: Installation,
  options: Partial<PreviewsOptions> = {},
  { url } = home.server,
): Promise<Previews> {
  const events: string[] = [];
  const runner = await startPreviews({
    url,
    secretKey: home.keys.preview,
    cache: { folder: await temporary() },
    ...options,
    onServed: (branch) => events.push(`${branch} served`),
    onLeft: (branch) => events.push(`${branch} left`),
  });
  onTestFinished(() => runner.stop({ waitMs: 0 }));
  return { runner, events };
}

test('one runner serves all branches, each with its own version, variables and pause, also later ones', async () => {
  const home = await installation();
  const { projectRef, keys } = home;
  const a = await branchOf(home, 'feat/a');
  const { runner, events } = await previewsOf(home);
  await expect.poll(() => events, { timeout }).toEqual(['feat/a served']);
  // Created on another server than the one that has the connection.
  const b = await branchOf(home, 'feat/b', await home.another());
  await expect.poll(() => events).toEqual(['feat/a served', 'feat/b served']);

  const variables = `POST /api/v1/projects/${projectRef}/envvars/preview`;
  const parent = await home.ask(variables, { body: { name: 'SHARED', value: 'of preview' } });
  expect(parent.status).toBe(200);
  for (const [branch, name, value] of [
    [a, 'OWN', 'of a'],
    [a, 'ONLY_A', 'a secret of a'],
    [b, 'SHARED', 'of b'],
    [b, 'ONLY_B', 'a secret of b'],
  ] as const)
    expect((await branch.ask(variables, { body: { name, value } })).status).toBe(200);

  const versions = [await a.deploy('one'), await b.deploy('two')];
  // Equal names in each branch, with different code.
  expect(new Set(versions).size).toBe(1);
  expect(await a.ended(await a.trigger('look'))).toEqual({
    text: 'one',
    branch: 'feat/a',
    shared: 'of preview',
    own: 'of a',
    ofOthers: ['ONLY_A'],
  });
  expect(await b.ended(await b.trigger('look'))).toEqual({
    text: 'two',
    branch: 'feat/b',
    shared: 'of b',
    own: null,
    ofOthers: ['ONLY_B'],
  });
  // A run triggered with the credential of an attempt is in the branch of the attempt.
  expect(await a.ended(await a.trigger('parent'))).toBe('one');
  expect(await b.ended(await b.trigger('parent'))).toBe('two');

  expect(
    (await a.ask('POST /api/v1/queues/say/pause', { body: { action: 'pause', type: 'task' } })).status,
  ).toBe(200);
  const paused = await a.trigger('say');
  expect(await b.ended(await b.trigger('say'))).toBe('two');
  expect((await a.retrieve(paused)).status).toBe('QUEUED');

  // The runner is in the list of each branch, and an attempt of one branch is unknown in another.
  for (const branch of [a, b]) {
    const { body } = await branch.ask('GET /api/v1/runners');
    expect(body.data).toEqual([expect.objectContaining({ pid: process.pid, versions: [versions[0]] })]);
  }
  expect((await b.retrieve(paused)).status).toBeUndefined();
  expect(runner.version).toBeNull();
  // Only a runner that serves branches may connect without one.
  expect((await home.ask('GET /api/v1/runners', { key: keys.preview })).status).toBe(401);
}, 90_000);

test('an archived branch is no longer served, and a new branch with the same name is a different one', async () => {
  const home = await installation();
  const { events } = await previewsOf(home);
  const old = await branchOf(home, 'feat/a');
  await old.deploy('old');
  expect(await old.ended(await old.trigger('say'))).toBe('old');
  expect((await old.archive()).status).toBe(200);
  const again = await branchOf(home, 'feat/a');
  await again.deploy('new');
  expect(await again.ended(await again.trigger('say'))).toBe('new');
  expect(events.filter((what) => what === 'feat/a served').length).toBeGreaterThan(1);
  expect((await again.archive()).status).toBe(200);
  await expect.poll(() => events.at(-1), { timeout }).toBe('feat/a left');
}, 90_000);

test('an idle branch has no process, and a branch without a running process starts its version for a run', async () => {
  const home = await installation();
  const a = await branchOf(home, 'feat/a');
  const folder = await temporary();
  const first = await previewsOf(home, { cache: { folder } });
  await a.deploy('one');
  await first.runner.stop({ waitMs: 0 });
  const { runner } = await previewsOf(home, { cache: { folder } });
  await expect.poll(async () => (await a.ask('GET /api/v1/runners')).body.data.length, { timeout }).toBe(1);
  await sleep(1_000);
  expect(runner.pids()).toEqual([]);
  expect(await a.ended(await a.trigger('say'))).toBe('one');
  expect(runner.pids().length).toBe(1);
  // Its processes end when they have been idle for a while.
  await expect.poll(() => runner.pids(), { timeout: 20_000 }).toEqual([]);
}, 90_000);

test('branches share the slots, and a branch that fills them does not block the others', async () => {
  const home = await installation();
  const { runner } = await previewsOf(home, { concurrency: 2 });
  const [a, b] = [await branchOf(home, 'feat/a'), await branchOf(home, 'feat/b')];
  await a.deploy('one');
  await b.deploy('two');
  // Its process is started before, so that the test measures only the distribution of slots.
  expect(await b.ended(await b.trigger('say'))).toBe('two');
  const many = await Promise.all(Array.from({ length: 4 }, () => a.trigger('nap', { ms: 600_000 })));
  const statuses = async () =>
    (await Promise.all(many.map((run) => a.retrieve(run)))).map(({ status }) => status).toSorted();
  await expect.poll(statuses, { timeout }).toEqual(['EXECUTING', 'EXECUTING', 'QUEUED', 'QUEUED']);
  const few = await Promise.all(Array.from({ length: 3 }, () => b.trigger('nap', { ms: 100 })));
  for (const run of few) expect(await b.ended(run)).toBe('two');
  // They did not wait for those of the other branch, which still hold all slots.
  expect(await statuses()).toEqual(['EXECUTING', 'EXECUTING', 'QUEUED', 'QUEUED']);
  for (const run of many) await a.ask(`POST /api/v2/runs/${run}/cancel`);
  expect(await a.ended(await a.trigger('nap', { ms: 100 }))).toBe('one');
  await runner.stop({ waitMs: 0 });
}, 90_000);

test('a runner stopped from one branch stops, as does one whose key has ended', async () => {
  const home = await installation();
  const { runner, events } = await previewsOf(home);
  const a = await branchOf(home, 'feat/a');
  await branchOf(home, 'feat/b');
  await expect.poll(() => events.length, { timeout }).toBe(2);
  const [{ id }] = (await a.ask('GET /api/v1/runners')).body.data;
  expect((await a.ask(`POST /api/v1/runners/${id}/stop`)).status).toBe(200);
  expect(await runner.ended).toBeNull();
  const other = await previewsOf(home);
  const listed = await home.ask(`GET /api/v1/projects/${home.projectRef}/preview/keys`);
  await home.ask(`POST /api/v1/projects/${home.projectRef}/preview/keys/${listed.body.data[0].id}/revoke`);
  expect((await other.runner.ended)?.message).toContain('does not accept this secret key');
}, 60_000);

test('a branch with unfinished runs is archived only with permission to cancel them, and after they have ended', async () => {
  const home = await installation();
  await previewsOf(home);
  const a = await branchOf(home, 'feat/a');
  await a.deploy('one');
  const running = await a.trigger('nap', { ms: 60_000 });
  await expect.poll(async () => (await a.retrieve(running)).status, { timeout }).toBe('EXECUTING');
  const delayed = await a.ask('POST /api/v1/tasks/say/trigger', {
    body: { payload: {}, options: { delay: '1h' } },
  });
  await a.ask('POST /api/v1/queues/say/pause', { body: { action: 'pause', type: 'task' } });
  const queued = await Promise.all(Array.from({ length: 250 }, () => a.trigger('say')));
  const unknown = await a.trigger('not-there');
  expect(await a.archive({ cancelRuns: false })).toMatchObject({
    status: 409,
    body: { code: 'branch_has_runs', liveRuns: 253, error: expect.stringContaining('Send cancelRuns: true') },
  });
  expect((await a.retrieve(queued[7] as string)).status).toBe('QUEUED');
  const runs = [running, delayed.body.id as string, unknown, ...queued];
  let canceled = 0;
  for (let calls = 0; ; calls += 1) {
    const { body } = await a.archive({ cancelRuns: true });
    canceled += body.canceled as number;
    if (body.isArchived) break;
    expect(calls).toBeLessThan(40);
    await sleep(250);
  }
  expect(canceled).toBe(253);
  const left = await home.sql<{ status: string; count: number }[]>`
    select status, count(*)::int as count from runs where id = any(${runs}) group by 1`;
  expect(left).toEqual([{ status: 'CANCELED', count: 253 }]);
  const acts = await home.sql<
    { act: string }[]
  >`select act from audit_log where act like 'branch.%' order by id`;
  expect(acts.map(({ act }) => act)).toEqual(['branch.created', 'branch.runsCanceled', 'branch.archived']);
  expect((await a.archive({ cancelRuns: true })).status).toBe(404);
}, 90_000);

test('schedules that tasks declare do not fire in a branch unless this is enabled', async () => {
  const home = await installation();
  await previewsOf(home);
  const branches = `POST /api/v1/projects/${home.projectRef}/branches`;
  const set = (schedules?: boolean) =>
    home.ask(branches, { key: home.keys.preview, body: { branch: 'feat/a', schedules } });
  const a = await branchOf(home, 'feat/a');
  const target = { url: home.server.url, key: home.keys.preview, branch: 'feat/a' };
  const version = await deployedTo(target, {
    'tasks/all.ts': `
      import { schedules } from '@millrace/sdk';
      export const hourly = schedules.task({ id: 'hourly', cron: '0 * * * *', run: async () => {} });
      export const named = schedules.task({
        id: 'named', cron: { pattern: '0 1 * * *', environments: ['PREVIEW'] }, run: async () => {},
      });
    `,
  });
  const options = { allowRollbacks: false, force: false, waitMs: timeout };
  await promoteWhenLoaded(target, version, { nodeMajor: 20, platforms: [], requires: [] }, options);
  const declared = async () =>
    (await a.ask('GET /api/v1/schedules')).body.data.map(({ task }: { task: string }) => task).toSorted();
  expect(await declared()).toEqual(['named']);
  expect((await set(true)).body).toMatchObject({ schedules: true });
  expect(await declared()).toEqual(['hourly', 'named']);
  // Without the setting it is unchanged.
  expect((await set()).body).toMatchObject({ schedules: true });
  const listed = await home.ask(`GET /api/v1/projects/${home.projectRef}/branches`, {
    key: home.keys.preview,
  });
  expect(listed.body.branches).toEqual([expect.objectContaining({ name: 'feat/a', schedules: true })]);
  expect((await set(false)).body).toMatchObject({ schedules: false });
  expect(await declared()).toEqual(['named']);
  const ofDev = await home.ask(branches, { body: { branch: 'x', env: 'dev', schedules: true } });
  expect([ofDev.status, ofDev.body.error]).toEqual([400, expect.stringMatching(/^schedules: /)]);
}, 60_000);
