import { execFile } from 'node:child_process';
import { mkdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { repository } from '../cli/command.ts';
import {
  deployedProject,
  startFetchingRunner,
  startInstallation,
  taskFile,
  type Installation,
} from './installation.ts';

const run = promisify(execFile);

let installation: Installation;
beforeAll(async () => {
  installation = await startInstallation();
});
afterAll(() => installation.stop());

test('a project with native packages of npm and a workspace package runs where nothing is installed', async () => {
  const { keys } = installation;
  const project = await deployedProject(installation, keys.prod, {
    'package.json': JSON.stringify({
      name: 'app',
      private: true,
      type: 'module',
      workspaces: ['packages/*'],
      dependencies: { sharp: '^0.34.0', esbuild: '^0.28.0', shared: '*' },
    }),
    'packages/shared/package.json': JSON.stringify({
      name: 'shared',
      version: '1.0.0',
      exports: './index.ts',
    }),
    'packages/shared/index.ts': 'export const width: number = 12;',
    'tasks/image.ts': taskFile(
      'image',
      "(await sharp({ create: { width, height: 5, channels: 3, background: 'red' } }).png().toBuffer()).subarray(1, 4).toString() + width",
      "import sharp from 'sharp';\nimport { width } from 'shared';",
    ),
    'tasks/compile.ts': taskFile(
      'compile',
      "(await transform('const a: number = 1', { loader: 'ts' })).code.trim()",
      "import { transform } from 'esbuild';",
    ),
  });
  await rm(join(project.dir, 'node_modules'), { recursive: true });
  await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: project.dir });
  await mkdir(join(project.dir, 'node_modules/@millrace'));
  await symlink(join(repository, 'packages/sdk'), join(project.dir, 'node_modules/@millrace/sdk'));
  await startFetchingRunner(installation, keys.prod);
  const deployed = await project.run('deploy');
  expect(deployed).toMatchObject({ exitCode: 0, json: { isCurrent: true } });
  const shown = await project.run('versions', 'show', deployed.json.version);
  expect(shown.json).toMatchObject({ platforms: ['linux-x64-glibc'], runners: 1 });
  expect(await project.run('trigger', 'image', '--wait')).toMatchObject({ json: { output: 'PNG12' } });
  expect(await project.run('trigger', 'compile', '--wait')).toMatchObject({
    json: { output: 'const a = 1;' },
  });
  // The lockfile is the same, so npm is not started and the layer is not uploaded again.
  await project.write('packages/shared/index.ts', 'export const width: number = 13;');
  const again = await project.run('deploy');
  expect(again.json.isCurrent).toBe(true);
  expect(again.json.sentBytes).toBeLessThan(deployed.json.sentBytes * 0.05);
  expect(await project.run('trigger', 'image', '--wait')).toMatchObject({ json: { output: 'PNG13' } });
}, 180_000);
