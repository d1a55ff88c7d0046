/** No command waits silently: it reports its wait, and prints the id of its run at once. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  millrace,
  repository,
  startDev,
  temporaryProject,
  type Folder,
  type Ready,
  type Running,
} from './command.ts';
import { finished } from './in-process.ts';

const tasks = `
import { task, wait } from '@millrace/sdk';
export const hello = task({ id: 'hello', run: async () => 'hello' });
export const rests = task({ id: 'rests', run: async () => { await wait.for({ seconds: 4 }); return 'rested'; } });
`;

describe('with a running dev', () => {
  let project: Folder;
  let dev: Running & { ready: Ready };
  beforeAll(async () => {
    project = await temporaryProject({ 'tasks/all.ts': tasks });
    dev = await startDev(project.path);
  }, 60_000);
  afterAll(async () => {
    dev?.kill('SIGTERM');
    await dev?.exitCode;
    await project?.remove();
  });
  const command = (...args: string[]) => finished(args, { cwd: project.path });

  test('a task that is in no version is reported immediately, with the nearest name, and the run can be watched later', async () => {
    const waiting = millrace(['trigger', 'helo', '--allow-unknown', '--wait'], { cwd: project.path });
    const id = await waiting.line(/^run_\w+$/);
    const line = await waiting.line(/^Waiting for/);
    expect(line).toMatch(
      new RegExp(
        `^Waiting for ${id}, PENDING_VERSION: The current version \\d{8}\\.\\d+ has no task "helo": export it in a file of \`millrace dev\`, or deploy a version that has it\\. Did you mean "hello"\\?$`,
      ),
    );
    waiting.kill('SIGINT');
    expect(await waiting.exitCode).toBe(130);
    expect(waiting.stderr.at(-1)).toBe(`${id} continues. To follow it: millrace runs show ${id} --wait`);
    const again = millrace(['runs', 'show', id, '--wait'], { cwd: project.path });
    await again.line(/has no task "helo"/);
    expect((await command('runs', 'cancel', id)).exitCode).toBe(0);
    expect(await again.exitCode).toBe(1);
    expect(again.stdout.join('\n')).toMatch(/status +CANCELED/);
  });

  test('a task that is in no version is rejected with the nearest name, and leaves nothing behind', async () => {
    const refused = await command('trigger', 'restss', '--wait', '--json');
    expect(refused).toMatchObject({ exitCode: 1, stdout: '' });
    expect(refused.stderr).toMatch(
      /^millrace: The current version \d{8}\.\d+ has no task "restss"\. Did you mean "rests"\? Nothing was triggered\. With --allow-unknown the run waits for a version that contains the task\./,
    );
    expect((await command('runs', 'list', '--task', 'restss', '--json')).stdout).toBe('');
    await command('trigger', 'restss', '--allow-unknown');
    expect((await command('queues', 'list', '--json')).stdout).not.toContain('restss');
    expect((await command('tasks', 'list', '--json')).stdout).not.toContain('restss');
  });

  test('a missing run is not reported as continuing', async () => {
    for (const wait of [['--wait'], []]) {
      expect(await command('runs', 'show', 'run_unknown', ...wait)).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining(
          `millrace: 404 No run run_unknown in the environment of this key at ${dev.ready.url}.`,
        ) as string,
      });
    }
  });

  test('with --json the messages are lines of JSON', async () => {
    const waiting = millrace(['trigger', 'helo', '--allow-unknown', '--wait', '--json'], {
      cwd: project.path,
    });
    const first = JSON.parse(await waiting.line(/triggered/)) as { id: string };
    expect(first).toEqual({
      type: 'triggered',
      id: expect.stringMatching(/^run_/),
      isCached: false,
      dashboardUrl: expect.stringMatching(/^http:\/\/\S+\/p\/proj_\w+\/dev\/runs\/run_\w+$/),
    });
    expect(JSON.parse(await waiting.line(/"waiting"/))).toEqual({
      type: 'waiting',
      id: first.id,
      status: 'PENDING_VERSION',
      reason: 'no_version',
      message: expect.stringContaining('Did you mean "hello"?') as string,
    });
    await command('runs', 'cancel', first.id);
    expect(await waiting.exitCode).toBe(1);
    expect(JSON.parse(waiting.stdout.at(-1) ?? '')).toMatchObject({ id: first.id, status: 'CANCELED' });
    expect(waiting.stderr).toEqual([]);
  });

  test('without --wait it is a warning after the id, also for a replay', async () => {
    const triggered = await command('trigger', 'quite-another', '--allow-unknown');
    expect(triggered).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^run_\w+$/) as string });
    expect(triggered.stderr).toMatch(
      /^warning run_\w+ waits: The current version \S+ has no task "quite-another": export it in a file of `millrace dev`, or deploy a version that has it\.$/m,
    );
    const json = await command('trigger', 'rest', '--allow-unknown', '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({ id: expect.any(String) as string, isCached: false });
    expect(json.stderr).toContain('Did you mean "rests"?');
    expect((await command('runs', 'replay', triggered.stdout)).stderr).toMatch(/^warning run_/);
    const quiet = await command('trigger', 'hello');
    expect(quiet.stderr).toMatch(new RegExp(`^Dashboard: http://\\S+/p/proj_\\w+/dev/runs/${quiet.stdout}$`));
  });

  test('a run that does not start, or stops progressing, shows the reason', async () => {
    await command('queues', 'pause', 'task/hello');
    const blocked = millrace(['trigger', 'hello', '--wait'], { cwd: project.path });
    await blocked.line(/^Waiting for run_\w+, QUEUED: The queue "task\/hello" is paused: resume it\.$/);
    await command('queues', 'resume', 'task/hello');
    expect(await blocked.exitCode).toBe(0);
    const rests = await command('trigger', 'rests', '--wait');
    expect(rests.exitCode).toBe(0);
    expect(rests.stderr).toMatch(/^Waiting for run_\w+, WAITING: It is waiting until /m);
  });
});

test('a command reports that it waits for the server, and for stdin', async () => {
  let reply = (): void => {};
  const server = createServer((_, response) => {
    reply = () => void response.writeHead(200, { 'content-type': 'application/json' }).end('[]');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const folder = await temporaryProject({});
  try {
    const connection = ['--url', url, '--key', 'svc_pat_0'];
    for (const args of [
      ['orgs', 'list'],
      ['errors', 'rules', 'list'],
    ]) {
      const process = millrace([...args, ...connection], { cwd: folder.path });
      await process.line(/^Waiting for /);
      expect(process.stderr).toEqual([`Waiting for ${url} to answer …`]);
      reply();
      await process.exitCode;
    }
    const bin = join(repository, 'packages/millrace/bin/millrace.js');
    const child = spawn(process.execPath, [bin, 'env', 'set', 'KEY', ...connection], { cwd: folder.path });
    const [output] = (await once(child.stderr, 'data')) as [Buffer];
    expect(String(output)).toBe('Waiting for the value of KEY on stdin (end it with Ctrl-D) …\n');
    child.kill('SIGKILL');
  } finally {
    server.closeAllConnections();
    server.close();
    await folder.remove();
  }
});
