import { mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { millrace, repository, startDev, type Ready } from './command.ts';
import { finished } from './in-process.ts';

test('init --dev serves the project that it wrote and runs its task once, and serves an existing one', async () => {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'millrace-first-')));
  try {
    const first = millrace(['init', 'hello', '--dev', '--port', '0'], { cwd: path });
    await first.line(/^output +\{"greeting":"Hello, Ada!"\}/);
    await first.line(/^Change hello\/tasks\/hello\.ts, and run it again in a second terminal:/);
    first.kill('SIGTERM');
    expect(await first.exitCode).toBe(0);
    expect(first.stdout.filter((line) => line.startsWith('wrote '))).toContain('wrote tasks/hello.ts');

    // Only files that were just written are run.
    const again = millrace(['init', 'hello', '--dev', '--port', '0', '--json'], { cwd: path });
    expect(JSON.parse(await again.line(/^\{"folder"/))).toMatchObject({
      folder: join(path, 'hello'),
      written: [],
    });
    const { url, environments } = JSON.parse(await again.line(/^\{"url"/)) as Ready;
    const listed = await fetch(`${url}/api/v1/runs`, {
      headers: { authorization: `Bearer ${environments.dev.secretKey}` },
    });
    expect(((await listed.json()) as { data: unknown[] }).data).toHaveLength(1);
    again.kill('SIGTERM');
    expect(await again.exitCode).toBe(0);
  } finally {
    await rm(path, { recursive: true, force: true, maxRetries: 5 });
  }
}, 60_000);

test('a project from init runs under dev before anything is installed, and then with the installed packages', async () => {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'millrace-first-')));
  try {
    const written = await finished(['init', 'first', '--json'], { cwd: path });
    expect(written.exitCode).toBe(0);
    expect(JSON.parse(written.stdout)).toMatchObject({
      written: expect.arrayContaining(['tasks/hello.ts']),
      unchanged: [],
    });
    const project = join(path, 'first');
    const link = join(project, '.millrace/node_modules/@millrace/sdk');
    const trigger = ['trigger', 'hello', '--payload', '{"name":"Ada"}', '--wait', '--json'];
    const serve = async (): Promise<string> => {
      const dev = await startDev(project);
      try {
        const finishedRun = await finished(trigger, { cwd: project });
        expect(finishedRun.exitCode).toBe(0);
        const [handle = '', run = ''] = finishedRun.stdout.split('\n');
        const { id } = JSON.parse(run) as { id: string };
        expect(JSON.parse(handle)).toMatchObject({ type: 'triggered', id, isCached: false });
        expect(JSON.parse(run)).toMatchObject({ status: 'COMPLETED', output: { greeting: 'Hello, Ada!' } });
        await expect
          .poll(async () => (await finished(['logs', id], { cwd: project })).stdout)
          .toMatch(/Saying hello.*"name":"Ada"/);
      } finally {
        dev.kill('SIGTERM');
        expect(await dev.exitCode).toBe(0);
      }
      return dev.stderr.join('\n');
    };
    expect(await serve()).toMatch(/sdk +the SDK of this command/);
    expect(await realpath(link)).toBe(join(repository, 'packages/sdk'));

    await symlink(join(repository, 'test/modules/node_modules'), join(project, 'node_modules'));
    expect(await serve()).not.toMatch(/sdk +the SDK of this command/);
    await expect(realpath(link)).rejects.toThrow('ENOENT');
  } finally {
    await rm(path, { recursive: true, force: true, maxRetries: 5 });
  }
}, 60_000);
