/** The preview branches of docs/deployments.md with the real commands, a key of CI, and a runner with only an address and a key. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { repository } from '../cli/command.ts';
import { finished } from '../cli/in-process.ts';
import { ciShell } from './ci-shell.ts';
import {
  deployedProject,
  startFetchingRunner,
  startInstallation,
  type Installation,
} from './installation.ts';

const run = promisify(execFile);

let installation: Installation;
beforeAll(async () => {
  installation = await startInstallation();
});
afterAll(() => installation.stop());

/** The commands of the shell example, without the npm ones. */
async function documentedCommands(): Promise<string[]> {
  const docs = await readFile(join(repository, 'docs/deployments.md'), 'utf8');
  const section = docs.slice(docs.indexOf('### A preview for each pull request'));
  const [, block = ''] = /A shell:\n\n```sh\n([\s\S]*?)```/.exec(section) ?? [];
  return block.split('\n').filter((line) => line.startsWith('npx millrace '));
}

const tasks = `
import { schedules, task } from '@millrace/sdk';
export const where = task({ id: 'where', run: async () => process.env.MILLRACE_PREVIEW_BRANCH + ' ' + process.env.LEVEL });
export const nap = task({ id: 'nap', run: async () => { await new Promise((resolve) => setTimeout(resolve, 120_000)); } });
export const nightly = schedules.task({ id: 'nightly', cron: '0 3 * * *', run: async () => {} });
`;

test('a CI shell deploys a branch and archives it with two variables', async () => {
  const { keys, url, projectRef } = installation;
  const project = await deployedProject(installation, keys.preview, { 'tasks/all.ts': tasks });
  await run('git', ['init', '--quiet', '--initial-branch', 'feat/login'], { cwd: project.dir });
  const login = { MILLRACE_API_URL: url, MILLRACE_ACCESS_TOKEN: installation.personalAccessToken };
  const created = await finished(
    [
      'keys',
      'create',
      'ci',
      '--env',
      'preview',
      '--preset',
      'deploy-only',
      '--project',
      projectRef,
      '--json',
    ],
    { cwd: project.dir, env: login },
  );
  const { key } = JSON.parse(created.stdout) as { key: string };
  const shell = await ciShell(project.dir, { MILLRACE_API_URL: url, MILLRACE_SECRET_KEY: key });

  const runner = await startFetchingRunner(installation, keys.preview);
  const [deploy = '', archive = ''] = await documentedCommands();
  expect(deploy).toContain(' deploy --branch ');
  expect(archive).toContain(' branches archive ');
  const deployed = await shell(deploy);
  expect(deployed, deployed.stderr).toMatchObject({ code: 0 });
  expect(deployed.stdout).toMatch(/is current[^]*Declared schedules are off in this branch: nightly\./);
  expect(await runner.line(/"branch\.served".*"feat\/login"/)).toBeTruthy();

  const here = ['--branch', 'feat/login'];
  expect((await project.run('env', 'set', 'LEVEL=debug', ...here)).exitCode).toBe(0);
  expect(await project.run('trigger', 'where', '--wait', ...here)).toMatchObject({
    json: { status: 'COMPLETED', output: 'feat/login debug' },
  });
  expect((await project.run('schedules', 'list', ...here)).stdout).toBe('');
  const again = await project.run('deploy', ...here, '--schedules');
  expect(again.json).toMatchObject({ isNew: false, isCurrent: true, schedulesOff: [] });
  expect((await project.run('schedules', 'list', ...here)).json).toMatchObject({ task: 'nightly' });
  expect(await project.run('deploy', '--schedules')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('require --branch'),
  });

  await project.run('trigger', 'nap', ...here);
  await expect
    .poll(async () => (await project.run('runs', 'list', ...here)).stdout, { timeout: 20_000 })
    .toContain('"EXECUTING"');
  const refused = await shell(archive.replace('--yes', ''));
  expect(refused).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/pass --yes to cancel them: feat\/login has 1 run that has not ended\.\n$/),
  });
  const archived = await shell(archive);
  expect(archived, archived.stderr).toMatchObject({
    code: 0,
    stdout: 'Archived feat/login, and cancelled 1 run.\n',
  });
  await runner.line(/"branch\.left"/);
  expect((await shell('npx millrace branches list')).stdout).toBe('None.\n');
}, 120_000);

test('a preview runner registers no folder unless a branch is named', async () => {
  const { keys, url } = installation;
  const project = await deployedProject(installation, keys.preview, { 'tasks/all.ts': tasks });
  expect(await project.run('work', '--dir', '.')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('--dir requires --branch'),
  });
  const ofProd = await finished(['work', '--branch', 'feat/x'], {
    cwd: project.dir,
    env: { MILLRACE_API_URL: url, MILLRACE_SECRET_KEY: keys.prod },
  });
  expect(ofProd).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('--branch requires a preview secret key'),
  });
  // The key is valid; the branch is missing.
  const nowhere = await project.run('work', '--branch', 'feat/none', '--dir', '.');
  expect(nowhere).toMatchObject({
    exitCode: 4,
    stderr: expect.stringMatching(/No matching branch: create it first \(`millrace branches create`\)/),
  });
  expect(nowhere.stderr).not.toContain('Check MILLRACE_SECRET_KEY');
  expect(await project.run('deploy')).toMatchObject({
    exitCode: 4,
    stderr: expect.stringMatching(/name a branch of it \(--branch /),
  });
  const env = { MILLRACE_SECRET_KEY: keys.preview, MILLRACE_API_URL: url };
  expect((await finished(['branches', 'create', 'feat/folder'], { cwd: project.dir, env })).exitCode).toBe(0);
  const runner = project.start('work', '--branch', 'feat/folder', '--json', '--grace', '1s');
  try {
    const { version } = JSON.parse(await runner.line(/^\{"runner"/)) as { version: string };
    const here = ['--branch', 'feat/folder'];
    const result = await project.run('versions', 'show', version, ...here);
    expect(result.json).toMatchObject({ version, runners: 1 });
    expect((await project.run('versions', 'promote', version, ...here)).exitCode).toBe(0);
    expect(await project.run('trigger', 'where', '--wait', ...here)).toMatchObject({
      json: { output: 'feat/folder undefined' },
    });
  } finally {
    runner.kill('SIGTERM');
    await runner.exitCode;
  }
}, 90_000);
