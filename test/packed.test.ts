import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { finished, repository, startDev } from './cli/command.ts';

const run = promisify(execFile);

it('a folder with one task file runs on packages installed from npm pack, far from the repository', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-packed-'));
  try {
    const workspaces = ['contract', 'sdk', 'server', 'millrace'].flatMap((name) => [
      '-w',
      `packages/${name}`,
    ]);
    await run('npm', ['pack', ...workspaces, '--pack-destination', folder, '--ignore-scripts'], {
      cwd: repository,
    });
    const tarballs = (await readdir(folder)).filter((name) => name.endsWith('.tgz'));
    expect(tarballs).toHaveLength(4);

    const project = join(folder, 'project');
    await mkdir(join(project, 'tasks'), { recursive: true });
    await writeFile(
      join(project, 'package.json'),
      '{ "name": "far-away", "private": true, "type": "module" }',
    );
    await writeFile(
      join(project, 'tasks/double.ts'),
      `import { task } from '@millrace/sdk';\nexport const double = task({ id: 'double', run: async (n: number) => 2 * n });\n`,
    );
    const files = tarballs.map((name) => join(folder, name));
    await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', ...files], { cwd: project });

    const bin = join(project, 'node_modules/millrace/bin/millrace.js');
    const dev = await startDev(project, [], bin);
    try {
      const args = ['trigger', 'double', '--payload', '21', '--wait', '--json'];
      const { stdout, stderr } = await finished(args, { cwd: project, bin });
      expect({ ...(JSON.parse(stdout.split('\n').at(-1) ?? '') as object), stderr }).toMatchObject({
        status: 'COMPLETED',
        output: 42,
        stderr: '',
      });
    } finally {
      dev.kill('SIGTERM');
      expect(await dev.exitCode).toBe(0);
    }

    // What `init` writes has types that are right, checked by the compiler that it brings.
    expect((await finished(['init', 'first'], { cwd: folder, bin })).exitCode).toBe(0);
    const first = join(folder, 'first');
    await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', ...files], { cwd: first });
    await run('npm', ['run', 'types'], { cwd: first });
    await writeFile(join(first, 'tasks/wrong.ts'), "export const wrong: number = 'a text';\n");
    await expect(run('npm', ['run', 'types'], { cwd: first })).rejects.toMatchObject({
      stdout: expect.stringMatching(/tasks\/wrong\.ts.*not assignable to type 'number'/) as string,
    });
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}, 360_000);
