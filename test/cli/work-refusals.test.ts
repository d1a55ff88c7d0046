import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { temporary } from '../support/deployment.ts';
import { promote } from '../support/promote.ts';
import { startTestServer, testServer, type TestServer } from '../support/server.ts';
import { millrace, temporaryProject } from './command.ts';
import { finished } from './in-process.ts';

const good = `
import { schedules, task } from '@millrace/sdk';
export const good = task({ id: 'good', run: async () => 1 });
export const nightly = schedules.task({ id: 'nightly', cron: '0 3 * * *', run: async () => 1 });
`;
const aTask = (id: string): string =>
  `import { task } from '@millrace/sdk'; export const one = task({ id: '${id}', run: async () => 1 });`;

describe('work with', () => {
  const ends: (() => Promise<void>)[] = [];
  let server: TestServer;
  let cache: string;
  let env: Record<string, string>;
  let version: string;
  beforeAll(async () => {
    server = await startTestServer((end) => void ends.unshift(end));
    const project = await temporaryProject({ 'tasks/good.ts': good });
    ends.unshift(project.remove);
    cache = join(project.path, 'cache');
    env = { MILLRACE_API_URL: server.url, MILLRACE_SECRET_KEY: server.keys.prod };
    const first = millrace(['work', '--json', '--cache', cache], { cwd: project.path, env });
    await first.line(/^\{"runner"/);
    version = await promote(server.url, server.keys.prod);
    first.kill('SIGTERM');
    await first.exitCode;
  }, 60_000);
  afterAll(async () => {
    for (const end of ends) await end();
  });

  const state = async () => ({
    current: (await server.ask('/api/v1/deployments/current')).body.version as string,
    versions: (await server.ask('/api/v1/deployments')).body.data.length as number,
    schedules: (await server.ask('/api/v1/schedules')).body.data as unknown,
  });

  test.each([
    [
      'a missing dependency',
      { 'tasks/bad.ts': `import 'not-installed';\n${aTask('bad')}` },
      ['tasks/bad.ts.*not-installed'],
    ],
    ['a syntax error', { 'tasks/bad.ts': 'const a = 1;\nconst b = ;\n' }, ['tasks/bad.ts:2:11']],
    ['a duplicate id', { 'tasks/bad.ts': aTask('good') }, ['"good" is declared 2 times']],
    [
      'several problems',
      { 'tasks/bad.ts': 'const b = ;', 'tasks/throws.ts': "throw new Error('at once');" },
      ['2 problems', 'tasks/bad.ts', 'tasks/throws.ts:1.*at once'],
    ],
    [
      'only broken files',
      { 'tasks/good.ts': 'const b = ;', 'tasks/throws.ts': "throw new Error('at once');" },
      ['tasks/good.ts', 'tasks/throws.ts'],
    ],
    ['no task', { 'tasks/good.ts': 'export const a = 1;' }, ['exports a task']],
  ] as const)(
    '%s starts nothing and registers nothing: the current version and schedules do not change',
    async (_, files, named) => {
      const before = await state();
      expect(before).toMatchObject({ current: version, versions: 1, schedules: [{ task: 'nightly' }] });

      const broken = await temporaryProject({ 'tasks/good.ts': good, ...files });
      onTestFinished(broken.remove);
      const { exitCode, stdout, stderr } = await finished(['work', '--env', 'prod', '--cache', cache], {
        cwd: broken.path,
        env,
      });
      expect([exitCode, stdout]).toEqual([3, '']);
      for (const text of named) expect(stderr).toMatch(new RegExp(text));
      expect(await state()).toEqual(before);
    },
    60_000,
  );
});

test('work without a project needs an address and a key, and serves the deployed version', async () => {
  const server = await testServer();
  const folder = await temporary();
  const env = { MILLRACE_API_URL: server.url, MILLRACE_SECRET_KEY: server.keys.prod };
  const runner = millrace(
    ['work', '--json', '--cache', join(folder, 'cache'), '--label', 'gpu', '--label', 'ffmpeg'],
    { cwd: folder, env },
  );
  onTestFinished(() => runner.kill('SIGKILL'));
  const { runner: id, version } = JSON.parse(await runner.line(/^\{"runner"/)) as Record<string, unknown>;
  expect(version).toBeNull();
  const { body } = await server.ask('/api/v1/runners');
  expect(body.data).toMatchObject([{ id, labels: ['gpu', 'ffmpeg'], versions: [] }]);
  const nowhere = await finished(['work'], { cwd: folder, env: { MILLRACE_API_URL: server.url } });
  expect([nowhere.exitCode, nowhere.stderr]).toEqual([4, expect.stringContaining('MILLRACE_SECRET_KEY')]);
  const missing = await finished(['work', '--dir', 'project'], { cwd: folder, env });
  expect([missing.exitCode, missing.stderr]).toEqual([3, expect.stringContaining('does not exist')]);
  await server.ask(`/api/v1/runners/${String(id)}/stop`, { method: 'POST' });
  expect(await runner.exitCode).toBe(0);
}, 60_000);

test.each([
  [['--label', 'a b'], 'Must be 1 to 64 characters'],
  [['--cache-size', '2GB'], 'such as 500MiB or 2GiB'],
  [['--cache-size', '0MiB'], 'such as 500MiB or 2GiB'],
])('work rejects %s', async (args, expected) => {
  const { exitCode, stderr } = await finished(['work', ...args], { cwd: await temporary() });
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining(expected)]);
});

test('work rejects a cache that cannot be written, and reports a folder that is not current', async () => {
  const server = await testServer();
  const project = await temporaryProject({ 'tasks/good.ts': good, file: '' });
  onTestFinished(project.remove);
  const env = { MILLRACE_API_URL: server.url, MILLRACE_SECRET_KEY: server.keys.prod };
  const refused = await finished(['work', '--cache', 'file'], { cwd: project.path, env });
  expect([refused.exitCode, refused.stderr]).toEqual([3, expect.stringContaining('not a folder')]);
  const runner = millrace(['work', '--cache', await temporary()], { cwd: project.path, env });
  onTestFinished(() => runner.kill('SIGKILL'));
  expect(JSON.parse(await runner.line(/version\.served/))).toMatchObject({ isNew: true, isCurrent: false });
}, 60_000);
