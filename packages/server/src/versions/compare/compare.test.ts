import type { TaskManifest } from '@millrace/contract/runner';
import { expect, test } from 'vitest';
import { statsFlusher } from '../../telemetry/stats/flush.ts';
import { bundleOf, type NewDeployment } from '../deployments/testing/bundle.ts';
import { testDeployments } from '../deployments/testing/deployments.ts';
import { compareDeployments } from './compare.ts';

const problem = (status: number, message: RegExp) => ({
  status,
  message: expect.stringMatching(message) as string,
});

/** Deploys versions with these tasks, and compares them. */
async function testComparisons() {
  const t = await testDeployments();
  let deployed = 0;
  const compare = (version: string, other?: string) =>
    compareDeployments(t.sql, t.environment.id, { version, with: other }, new Date(t.engine.clock.now()));
  const deploy = async (
    manifests: readonly Partial<TaskManifest>[],
    { git, promote = true }: { readonly git?: NewDeployment['git']; readonly promote?: boolean } = {},
  ): Promise<string> => {
    const tasks = manifests.map((manifest) => ({ id: 'send', filePath: 'tasks.ts', ...manifest }));
    const files = { 'a.js': `${++deployed}` };
    const more = { tasks, ...(git && { git }) };
    const { version } = await t.deploy(bundleOf(files, { tasks: tasks.map(({ id }) => id), more }));
    if (promote) await t.promoteTo(version);
    return version;
  };
  return { t, compare, deploy };
}

test('tasks are added, removed, changed or the same, each change with its old and new value', async () => {
  const { compare, deploy } = await testComparisons();
  const schema = (type: string) => ({
    type: 'object',
    properties: { amount: { type }, card: { type: 'string' } },
  });
  const first = await deploy([
    { id: 'old' },
    { id: 'same', ttl: 5 },
    { id: 'charge', retry: { maxAttempts: 3 }, queue: { name: 'shop' }, payloadSchema: schema('number') },
  ]);
  const second = await deploy([
    { id: 'new' },
    { id: 'same', ttl: 5 },
    {
      id: 'charge',
      retry: { maxAttempts: 1 },
      queue: { name: 'shop' },
      machine: 'micro',
      payloadSchema: schema('string'),
    },
  ]);
  const none = { completed: 0, failed: 0, canceled: 0, failureRate: null, p50: null, p95: null };
  const expected = {
    before: { version: first },
    after: { version: second },
    tasks: [
      { id: 'new', change: 'added', changes: [], before: null, after: none },
      { id: 'old', change: 'removed', changes: [], before: none, after: null },
      {
        id: 'charge',
        change: 'changed',
        changes: [
          { field: 'machine', after: 'micro' },
          { field: 'payloadSchema.properties.amount.type', before: 'number', after: 'string' },
          { field: 'retry.maxAttempts', before: 3, after: 1 },
        ],
      },
      { id: 'same', change: 'same', changes: [] },
    ],
  };
  expect(await compare(second, first)).toMatchObject(expected);
  // The older version is first in either order, and the default is the version before.
  expect(await compare(first, second)).toMatchObject(expected);
  expect(await compare(second)).toMatchObject(expected);
});

test('the tasks that fail more often on the newer version are first, the largest increase before the others', async () => {
  const { t, compare, deploy } = await testComparisons();
  const tasks = ['a', 'broken', 'noisy', 'worse'].map((id) => ({ id }));
  const [first, second] = [await deploy(tasks), await deploy([...tasks, { id: 'new' }])];
  const end = (version: string, task: string, completed: number, failed: number) => {
    const subject = { env: t.environment.id, task, version };
    t.engine.stats.count(subject, 'completed', t.engine.clock.now(), completed);
    t.engine.stats.count(subject, 'failed', t.engine.clock.now(), failed);
  };
  for (const [task, failed] of [
    ['broken', 1_000],
    ['noisy', 11],
    ['worse', 100],
  ] as const) {
    end(first, task, 990, 10);
    end(second, task, 1_000 - failed, failed);
  }
  await statsFlusher(t.engine).tick();
  expect((await compare(second)).tasks.map(({ id }) => id)).toEqual(['broken', 'worse', 'new', 'a', 'noisy']);
});

test('each task has the runs that ended on each version, with failure rate and duration', async () => {
  const { t, compare, deploy } = await testComparisons();
  const env = t.environment.id;
  const [first, second] = [await deploy([{}]), await deploy([{}])];
  const { stats, clock } = t.engine;
  const at = clock.now();
  const end = (version: string, what: 'completed' | 'failed' | 'canceled', ms: number, task = 'send') => {
    const subject = { env, task, version };
    stats.count(subject, what, at);
    stats.ended(subject, ms, at);
  };
  for (let n = 0; n < 19; n++) end(first, 'completed', 100);
  end(first, 'failed', 100);
  end(first, 'canceled', 100);
  end(second, 'completed', 1_000);
  for (let n = 0; n < 3; n++) end(second, 'failed', 1_000);
  // Neither another task nor another environment counts.
  end(second, 'failed', 9_000, 'other');
  stats.count({ env: env + 1, task: 'send', version: second }, 'failed', at);
  await statsFlusher(t.engine).tick();
  const [task] = (await compare(second)).tasks;
  expect(task?.before).toMatchObject({ completed: 19, failed: 1, canceled: 1, failureRate: 0.05 });
  expect(task?.after).toMatchObject({ completed: 1, failed: 3, canceled: 0, failureRate: 0.75 });
  for (const [ms, runs] of [
    [100, task?.before],
    [1_000, task?.after],
  ] as const)
    for (const found of [runs?.p50, runs?.p95]) expect(Math.abs((found ?? 0) / ms - 1)).toBeLessThan(0.1);
});

test('the deployments between two versions have their commits, and known hosts a page of them', async () => {
  const { compare, deploy } = await testComparisons();
  const git = (digit: string) => ({
    commit: digit.repeat(40),
    branch: 'main',
    message: `Change ${digit}`,
    author: 'Ada Lovelace',
    remote: 'https://github.com/acme/shop',
  });
  const versions = [];
  for (const digit of ['1', '2', '3']) versions.push(await deploy([{}], { git: git(digit) }));
  const [first = '', second = '', third = ''] = versions;
  const found = await compare(third, first);
  expect(found.deployments.map(({ version, git: own }) => [version, own])).toEqual([
    [third, git('3')],
    [second, git('2')],
  ]);
  expect(found).toMatchObject({
    hasMoreDeployments: false,
    commitsUrl: `https://github.com/acme/shop/compare/${'1'.repeat(40)}...${'3'.repeat(40)}`,
  });
  const without = await deploy([{}]);
  expect(await compare(without)).toMatchObject({ before: { version: third }, commitsUrl: null });
});

test('a canary is compared with the current version, and a version skips those that were never current', async () => {
  const { t, compare, deploy } = await testComparisons();
  const first = await deploy([{}]);
  await deploy([{}], { promote: false });
  const third = await deploy([{}]);
  expect(await compare(third)).toMatchObject({ before: { version: first } });
  const canary = await deploy([{ id: 'send' }, { id: 'more' }], { promote: false });
  await t.promoteTo(canary, { percent: 10 });
  expect(await compare(canary)).toMatchObject({
    before: { version: third, state: 'current' },
    after: { version: canary, canaryPercent: 10 },
    tasks: [{ id: 'more', change: 'added' }, { id: 'send' }],
  });
});

test('failed and archived versions are compared by their manifests', async () => {
  const { t, compare, deploy } = await testComparisons();
  const first = await deploy([{ ttl: 1 }]);
  const second = await deploy([{ ttl: 2 }]);
  await t.archive(first);
  const { tasks, before } = await compare(second);
  expect(before.state).toBe('archived');
  expect(tasks[0]?.changes).toEqual([{ field: 'ttl', before: 1, after: 2 }]);
  const created = await t.create(bundleOf({ 'b.js': 'b' }, { tasks: ['send', 'new'] }).body);
  await t.fail(created);
  expect(await compare(created.version)).toMatchObject({
    after: { state: 'failed' },
    tasks: [
      { id: 'new', change: 'added' },
      { id: 'send', change: 'changed' },
    ],
  });
});

test('rejects unknown versions, those of other environments, a version with itself, and one without a predecessor', async () => {
  const { t, compare, deploy } = await testComparisons();
  const first = await deploy([{}]);
  for (const unknown of ['20200101.1', 'deployment_none', 'a\0b']) {
    await expect(compare(unknown)).rejects.toMatchObject(problem(404, /no version "/));
    await expect(compare(first, unknown)).rejects.toMatchObject(problem(404, /no version "/));
  }
  const elsewhere = t.environment.id + 1;
  await expect(compareDeployments(t.sql, elsewhere, { version: first }, new Date())).rejects.toMatchObject(
    problem(404, /no version "/),
  );
  const { id } = await t.show(first);
  for (const same of [first, id])
    await expect(compare(first, same)).rejects.toMatchObject(
      problem(422, /^with: this is also version .* Send another version, or omit it/),
    );
  await expect(compare(first)).rejects.toMatchObject(
    problem(422, /^with: no version before .* has been current. Send the version to compare it with/),
  );
});
