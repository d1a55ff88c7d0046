import { createServer } from 'node:net';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { startSystem } from '../faults/project.ts';
import { millrace, temporaryProject } from './command.ts';
import { finished } from './in-process.ts';
import { promote } from '../support/promote.ts';

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address ? address.port : 0;
}

const answer = async (url: string): Promise<[number, unknown]> => {
  const response = await fetch(url);
  expect(response.headers.has('retry-after')).toBe(response.status === 503);
  return [response.status, await response.json()];
};

test(
  'reports to orchestrators whether the runner is alive and whether it accepts runs',
  { timeout: 120_000 },
  async () => {
    const system = await startSystem();
    const port = await freePort();
    const health = `http://127.0.0.1:${port}`;
    system.server.kill('SIGTERM');
    await system.server.exitCode;
    const runner = millrace(['work', '--health-port', `127.0.0.1:${port}`, '--grace', '20s'], {
      cwd: system.folder,
      env: { MILLRACE_API_URL: system.url, MILLRACE_SECRET_KEY: system.key },
    });
    onTestFinished(() => runner.kill('SIGKILL'));
    await runner.line(/runner\.disconnected/);
    expect(await answer(`${health}/healthz`)).toEqual([200, { status: 'ok' }]);
    expect(await answer(`${health}/readyz`)).toEqual([503, { error: 'It is not connected to the server' }]);
    expect((await answer(`${health}/metrics`))[0]).toBe(404);

    const server = await system.restart();
    await runner.line(/runner\.started/);
    expect(await answer(`${health}/readyz`)).toEqual([200, { status: 'ready' }]);
    // A repeated message is printed once, with its count.
    const refused = runner.stderr.filter((line) => line.includes('runner.disconnected'));
    expect(refused.length).toBeLessThan(4);

    await promote(system.url, system.key);
    const { id } = await system.call<{ id: string }>('/api/v1/tasks/hold/trigger', {
      method: 'POST',
      body: { payload: { until: '/nowhere', value: '' } },
    });
    await expect
      .poll(async () => (await system.call<{ status: string }>(`/api/v3/runs/${id}`)).status, {
        timeout: 10_000,
      })
      .toBe('EXECUTING');
    runner.kill('SIGTERM');
    await runner.line(/runner\.stopping/);
    expect(await answer(`${health}/readyz`)).toEqual([503, { error: 'It is stopping' }]);
    expect((await answer(`${health}/healthz`))[0]).toBe(200);
    server.kill('SIGTERM');
    await server.exitCode;
  },
);

test('prints only messages of the log level, and rejects invalid settings', async () => {
  const project = await temporaryProject({
    'tasks/a.ts': `import { task } from '@millrace/sdk'; export const a = task({ id: 'a', run: async () => 1 });`,
  });
  onTestFinished(project.remove);
  const nowhere = { MILLRACE_API_URL: 'http://127.0.0.1:1', MILLRACE_SECRET_KEY: 'svc_prod_sk_x' };
  const port = await freePort();
  const quiet = millrace(['work', '--health-port', `127.0.0.1:${port}`], {
    cwd: project.path,
    env: { ...nowhere, MILLRACE_LOG_LEVEL: 'error' },
  });
  const loud = millrace(['work'], { cwd: project.path, env: nowhere });
  await loud.line(/runner\.disconnected/);
  await expect
    .poll(
      () =>
        fetch(`http://127.0.0.1:${port}/healthz`).then(
          ({ ok }) => ok,
          () => false,
        ),
      { timeout: 20_000 },
    )
    .toBe(true);
  for (const each of [quiet, loud]) each.kill('SIGTERM');
  expect(await Promise.all([quiet.exitCode, loud.exitCode])).toEqual([0, 0]);
  expect(quiet.stderr).toEqual([]);
  expect(loud.stdout).toEqual([]);

  for (const [args, env, expected] of [
    [['--grace', 'soon'], {}, /--grace.*duration from 0s to 1h/],
    [[], { MILLRACE_GRACE: '2h' }, /MILLRACE_GRACE.*duration/],
    [['--health-port', 'x'], {}, /--health-port.*such as 9464/],
    [['--log-level', 'loud'], {}, /--log-level/],
  ] as const) {
    const { exitCode, stderr } = await finished(['work', ...args], {
      cwd: project.path,
      env: { ...nowhere, ...env },
    });
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(expected)]);
  }
}, 60_000);

test('prints nothing but JSON on stderr without a terminal, also while it waits for a server', async () => {
  const folder = await temporaryProject({ 'tasks/a.ts': '' });
  onTestFinished(folder.remove);
  const runner = millrace(
    ['work', '--url', `http://127.0.0.1:${await freePort()}`, '--key', 'svc_prod_sk_x'],
    {
      cwd: folder.path,
    },
  );
  onTestFinished(() => runner.kill('SIGKILL'));
  await runner.line(/runner\.disconnected/);
  await pause(4_000);
  runner.kill('SIGTERM');
  await runner.exitCode;
  const plain = runner.stderr.filter((line) => !line.startsWith('{'));
  expect(plain).toEqual([]);
}, 30_000);
