import { mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { finished, repository, startDev, temporaryProject } from './command.ts';

test('a project that init wrote runs under dev before anything is installed, and then with what is installed', async () => {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'millrace-first-')));
  try {
    expect((await finished(['init'], { cwd: path })).exitCode).toBe(0);
    const link = join(path, '.millrace/node_modules/@millrace/sdk');
    const greet = ['trigger', 'hello', '--payload', '{"name":"Ada"}', '--wait', '--json'];
    const greeted = expect.stringContaining('"greeting":"Hello, Ada!"') as string;
    const serve = async (): Promise<string> => {
      const dev = await startDev(path);
      try {
        expect(await finished(greet, { cwd: path })).toMatchObject({ exitCode: 0, stdout: greeted });
      } finally {
        dev.kill('SIGTERM');
        expect(await dev.exitCode).toBe(0);
      }
      return dev.stderr.join('\n');
    };
    expect(await serve()).toMatch(/sdk +that of this command/);
    expect(await realpath(link)).toBe(join(repository, 'packages/sdk'));

    await symlink(join(repository, 'node_modules'), join(path, 'node_modules'));
    expect(await serve()).not.toMatch(/sdk +that of this command/);
    await expect(realpath(link)).rejects.toThrow('ENOENT');
  } finally {
    await rm(path, { recursive: true, force: true, maxRetries: 5 });
  }
}, 60_000);

test('a project that init wrote runs under dev as it is', async () => {
  const folder = await temporaryProject({});
  try {
    const { exitCode, stdout } = await finished(['init', 'first', '--json'], { cwd: folder.path });
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      written: expect.arrayContaining(['tasks/hello.ts']),
      kept: [],
    });
    const path = join(folder.path, 'first');
    await symlink(join(repository, 'node_modules'), join(path, 'node_modules'));
    const dev = await startDev(path);
    try {
      const ran = await finished(['trigger', 'hello', '--payload', '{"name":"Ada"}', '--wait', '--json'], {
        cwd: path,
      });
      const [handle = '', run = ''] = ran.stdout.split('\n');
      expect(JSON.parse(run)).toMatchObject({
        status: 'COMPLETED',
        output: { greeting: 'Hello, Ada!' },
      });
      const { id } = JSON.parse(run) as { id: string };
      expect(JSON.parse(handle)).toEqual({ type: 'triggered', id, isCached: false });
      await expect
        .poll(async () => (await finished(['logs', id], { cwd: path })).stdout)
        .toMatch(/Saying hello.*"name":"Ada"/);
    } finally {
      dev.kill('SIGTERM');
      expect(await dev.exitCode).toBe(0);
    }
  } finally {
    await folder.remove();
  }
}, 60_000);
