import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  deployedProject,
  startFetchingRunner,
  startInstallation,
  taskFile,
  type DeployedProject,
  type Installation,
} from './installation.ts';

let installation: Installation;
beforeAll(async () => {
  installation = await startInstallation();
});
afterAll(() => installation.stop());

const versions = async (project: DeployedProject, ...args: string[]) =>
  (await project.run('versions', 'list', ...args)).stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { version: string; state: string; message: string | null });

/** Runs a command in a separate process, concurrently with others. */
async function apart(project: DeployedProject, ...args: string[]) {
  const running = project.start(...args, '--json');
  const exitCode = await running.exitCode;
  const last = running.stdout.at(-1);
  if (last === undefined) expect.fail(`exit code ${exitCode}: ${running.stderr.join('\n')}`);
  return { exitCode, json: JSON.parse(last) as Record<string, unknown> };
}

describe('millrace deploy', () => {
  test('uploads, promotes and runs; a changed file is a small upload; rollback restores the previous version', async () => {
    const { keys } = installation;
    // Sources that hardly compress, so that the upload sizes are proportioned as in real projects.
    const noise = (): string => `export const noise = '${randomBytes(40_000).toString('base64')}';`;
    const project = await deployedProject(installation, keys.prod, {
      'tasks/a.ts': taskFile('a', "'one'"),
      'tasks/b.ts': taskFile('b', 'noise.length', "import { noise } from '../lib/noise.ts';"),
      'tasks/c.ts': taskFile('c', 'typeof noise', "import { noise } from 'noisy';"),
      'lib/noise.ts': noise(),
      'node_modules/noisy/package.json':
        '{"name":"noisy","version":"1.0.0","type":"module","exports":"./index.js"}',
      'node_modules/noisy/index.js': noise(),
    });
    await startFetchingRunner(installation, keys.prod);
    const first = await project.run('deploy', '--env', 'prod', '--message', 'the first');
    expect(first).toMatchObject({ exitCode: 0, json: { isNew: true, isCurrent: true, replaced: null } });
    const firstVersion = first.json.version as string;
    expect(await project.run('trigger', 'a', '--wait')).toMatchObject({
      exitCode: 0,
      json: { output: 'one', version: firstVersion },
    });
    expect(await project.run('trigger', 'c', '--wait')).toMatchObject({ json: { output: 'string' } });

    await project.write('tasks/a.ts', taskFile('a', "'two'"));
    const second = await project.run('deploy');
    const secondVersion = second.json.version as string;
    expect(second.json).toMatchObject({ isNew: true, isCurrent: true, replaced: firstVersion });
    expect(second.json.sentBytes).toBeLessThan(first.json.sentBytes * 0.05);
    expect(await project.run('trigger', 'a', '--wait')).toMatchObject({
      json: { output: 'two', version: secondVersion },
    });

    const again = await project.run('deploy');
    expect(again).toMatchObject({
      exitCode: 0,
      json: { version: secondVersion, isNew: false, isCurrent: true, sentBytes: 0 },
    });
    const back = await project.run('versions', 'rollback');
    expect(back).toMatchObject({ exitCode: 0, json: { version: firstVersion, replaced: secondVersion } });
    expect(await project.run('trigger', 'a', '--wait')).toMatchObject({
      json: { output: 'one', version: firstVersion },
    });
    expect(await project.run('versions', 'rollback')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(`No previously current version before ${firstVersion}`),
    });
    // The same content is promoted again, although it is newer than the current version.
    expect((await project.run('deploy')).json).toMatchObject({
      version: secondVersion,
      isNew: false,
      isCurrent: true,
    });
    // The same is true for older content.
    await project.write('tasks/a.ts', taskFile('a', "'one'"));
    expect((await project.run('deploy')).json).toMatchObject({
      version: firstVersion,
      isNew: false,
      replaced: secondVersion,
    });

    const listed = await versions(project);
    expect(listed.map(({ version, state }) => [version, state])).toEqual([
      [secondVersion, 'drained'],
      [firstVersion, 'current'],
    ]);
    expect(listed[1]?.message).toBe('the first');
    const output = await project.run('versions', 'show', firstVersion);
    expect(output.json).toMatchObject({ tasks: 3, isUploaded: true, runners: 1, platforms: [] });
    expect(await project.run('versions', 'archive', firstVersion, '--yes')).toMatchObject({ exitCode: 1 });
    expect(await project.run('versions', 'archive', secondVersion)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('pass --yes'),
    });
    expect(await project.run('versions', 'archive', secondVersion, '--yes')).toMatchObject({
      json: { state: 'archived' },
    });
    expect(await project.run('versions', 'promote', secondVersion)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('archived'),
    });
    expect(await project.run('versions', 'promote', '20200101.1')).toMatchObject({ exitCode: 1 });
  }, 180_000);

  test('prints the next step where no runner is connected, and applies --force and --no-promote', async () => {
    const { keys } = installation;
    const project = await deployedProject(installation, keys.stg, { 'tasks/a.ts': taskFile('a', '1') });
    const waiting = await project.run('deploy');
    const { version } = waiting.json;
    expect(waiting).toMatchObject({ exitCode: 1, json: { isNew: true, isCurrent: false } });
    expect(waiting.stderr).toMatch(
      /is uploaded and ready, but not current\. No runner that fetches versions is connected\. Start `millrace work`/,
    );
    expect(await project.run('versions', 'promote', version)).toMatchObject({ exitCode: 1 });
    for (const percent of ['0', '100'])
      expect(await project.run('versions', 'promote', version, '--percent', percent)).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining('from 1 to 99'),
      });
    expect(await project.run('deploy', '--no-promote')).toMatchObject({
      exitCode: 0,
      json: { version, isNew: false, isCurrent: false },
    });
    expect(await project.run('deploy', '--force')).toMatchObject({
      exitCode: 0,
      json: { version, isCurrent: true },
    });
    const text = project.start('deploy');
    expect(await text.exitCode).toBe(0);
    expect(text.stdout.join('\n')).toContain('The same content is already deployed');
    await project.write('tasks/b.ts', taskFile('b', '2'));
    const dry = await project.run('deploy', '--dry-run');
    expect(dry.json).toMatchObject({ tasks: ['a', 'b'], layers: [] });
    expect(dry.json.files.map(({ path }: { path: string }) => path)).toContain('tasks/b.ts.mjs');
    expect(await versions(project)).toHaveLength(1);
  }, 120_000);

  test('two deployments at once both complete, and report which one is current', async () => {
    const { keys } = installation;
    const projects = await Promise.all(
      ['left', 'right'].map((name) =>
        deployedProject(installation, keys.stg, { 'tasks/a.ts': taskFile('both', `'${name}'`) }),
      ),
    );
    const ended = await Promise.all(projects.map((project) => apart(project, 'deploy', '--force')));
    expect(ended.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    const [first] = projects;
    const current = (await versions(first as DeployedProject)).filter(({ state }) => state === 'current');
    expect(current).toHaveLength(1);
    const deployed = ended.map(
      ({ json }) => json as { version: string; isCurrent: boolean; reason?: string },
    );
    expect(deployed.map(({ version }) => version)).toContain(current[0]?.version);
    for (const { version, isCurrent, reason } of deployed)
      if (!isCurrent) expect(reason).toContain(version === current[0]?.version ? '' : 'at the same time');
    // The same content deployed twice at once is one version.
    const same = await Promise.all(
      [1, 2].map(() => (first as DeployedProject).write('tasks/a.ts', taskFile('both', "'same'"))),
    ).then(() => Promise.all([1, 2].map(() => apart(first as DeployedProject, 'deploy', '--force'))));
    expect(same.map(({ exitCode, json }) => [exitCode, json['version']])).toEqual([
      [0, same[0]?.json['version']],
      [0, same[0]?.json['version']],
    ]);
    for (const { json } of same) expect(json['replaced']).not.toBe(json['version']);
  }, 120_000);

  test('an interrupted upload is abandoned, and a killed one continues where it was', async () => {
    const { keys } = installation;
    const project = await deployedProject(installation, keys.stg, {
      'millrace.config.ts': `import { copyFiles } from 'millrace';
export default { build: { extensions: [copyFiles('large.bin')] } };`,
      'tasks/a.ts': taskFile('large', '1'),
      'large.bin': '',
    });
    const size = 50_000_000;
    await project.write('large.bin', randomBytes(size));
    const uploading = async () => {
      const response = await fetch(`${installation.url}/api/v1/deployments`, {
        headers: { authorization: `Bearer ${keys.stg}` },
      });
      const { data } = (await response.json()) as { data: { version: string; state: string }[] };
      return data.filter(({ state }) => state === 'uploading');
    };
    const interrupted = project.start('deploy', '--force');
    await expect.poll(uploading, { timeout: 30_000, interval: 5 }).toHaveLength(1);
    const version = (await uploading())[0]?.version ?? '';
    interrupted.kill('SIGINT');
    expect(await interrupted.exitCode).toBe(130);
    expect((await project.run('versions', 'show', version)).json).toMatchObject({ state: 'failed' });

    const killed = project.start('deploy', '--force');
    await expect.poll(uploading, { timeout: 30_000, interval: 5 }).toHaveLength(1);
    const next = (await uploading())[0]?.version ?? '';
    killed.kill('SIGKILL');
    await killed.exitCode;
    expect(next).not.toBe(version);
    const done = await project.run('deploy', '--force');
    expect(done).toMatchObject({ exitCode: 0, json: { version: next, isCurrent: true } });
    expect(done.json.sentBytes).toBeLessThan(size);
  }, 180_000);

  test('a branch is created with its first deployment, and has its own versions', async () => {
    const { keys } = installation;
    const project = await deployedProject(installation, keys.preview, { 'tasks/a.ts': taskFile('a', '1') });
    // The preview key identifies its project.
    const deployed = await project.run('deploy', '--branch', 'feat/x', '--force');
    expect(deployed, deployed.stderr).toMatchObject({
      exitCode: 0,
      json: { isCurrent: true },
    });
    expect(await versions(project, '--branch', 'feat/x')).toHaveLength(1);
    const other = await deployedProject(installation, keys.prod, { 'tasks/a.ts': taskFile('a', '1') });
    expect(await other.run('deploy', '--branch', 'feat/x')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('--branch requires a preview secret key'),
    });
  }, 60_000);

  test('a version that no runner can serve reports the unmet requirement, and nothing else', async () => {
    const { keys } = installation;
    const project = await deployedProject(installation, keys.prod, {
      'tasks/a.ts': taskFile('a', '1').replace("id: 'a'", "id: 'a', requires: ['gpu']"),
    });
    await startFetchingRunner(installation, keys.prod);
    const deployed = await project.run('deploy');
    const promoted = await project.run('versions', 'promote', deployed.json.version);
    for (const { exitCode, stderr } of [deployed, promoted]) {
      expect(exitCode).toBe(1);
      expect(stderr).toContain(
        'No connected runner has the label gpu, as its tasks require (`millrace work --label gpu`).',
      );
    }
    expect((await project.run('deploy', '--force')).exitCode).toBe(0);
    await project.write('tasks/a.ts', taskFile('a', '2'));
    expect((await project.run('deploy', '--force')).exitCode).toBe(0);
    expect((await project.run('versions', 'promote', deployed.json.version)).stderr).toContain(
      '--allow-rollback of `millrace versions promote`',
    );
  }, 120_000);

  test('runners are listed, drained and stopped remotely', async () => {
    const { keys } = installation;
    const project = await deployedProject(installation, keys.stg, { 'tasks/a.ts': taskFile('a', '1') });
    const runner = await startFetchingRunner(installation, keys.stg);
    const listed = await project.run('runners', 'list');
    const { id } = listed.json as { id: string };
    expect(listed.json).toMatchObject({ draining: false, platform: expect.any(String) });
    expect((await project.run('runners', 'drain', id)).json).toMatchObject({ id, draining: true });
    expect((await project.run('runners', 'drain', id, '--undo')).json).toMatchObject({ draining: false });
    expect(await project.run('runners', 'drain', 'runner_unknown')).toMatchObject({ exitCode: 1 });
    expect((await project.run('runners', 'stop', id)).exitCode).toBe(0);
    expect(await runner.exitCode).toBe(0);
    const left = async () => (await project.run('runners', 'list')).stdout;
    await expect.poll(left, { timeout: 40_000 }).toBe('');
  }, 60_000);
});

describe('millrace deploy rejects', () => {
  const good = { 'tasks/good.ts': taskFile('good', '1') };

  test.each([
    ['a syntax error', { 'tasks/a.ts': 'export const = 1;' }, /tasks\/a\.ts:1:14: /],
    [
      'a missing dependency',
      { 'tasks/a.ts': "import 'not-there';" },
      /tasks\/a\.ts:1:8: Could not resolve "not-there": is the package installed\? Run `npm install`, or `npm install not-there` if /,
    ],
    ['a duplicate id', { 'tasks/a.ts': taskFile('good', '2') }, /the task id "good" is declared 2 times/],
    [
      'a file that throws',
      { 'tasks/a.ts': "throw new Error('on import');" },
      /tasks\/a\.ts:1:7: Error: on import/,
    ],
    [
      'a task that is not exported',
      { 'tasks/a.ts': taskFile('hidden', '1').replace('export const', 'const') },
      /hidden.* not exported/,
    ],
    [
      'a broken configuration',
      { 'millrace.config.ts': 'export default { build: { platforms: ["x"] } };' },
      /"build\.platforms\.0": not a platform/,
    ],
    ['no task', { 'tasks/good.ts': '' }, /the project has no task/],
    [
      'a .env value in the code',
      { '.env': 'API_KEY=abcdefgh12345678', 'tasks/a.ts': taskFile('a', "'abcdefgh12345678'") },
      /contains the value of API_KEY \(\.env\)/,
    ],
    [
      'a cron that the server rejects',
      {
        'tasks/a.ts':
          "import { schedules } from '@millrace/sdk';\nexport const s = schedules.task({ id: 's', cron: '99 * * * *', run: async () => 1 });",
      },
      /99/,
    ],
  ])('%s with exit code 3, and nothing is uploaded', async (_, files, sentence) => {
    const project = await deployedProject(installation, installation.keys.prod, { ...good, ...files });
    const before = await versions(project);
    const ended = await project.run('deploy', '--force');
    expect(ended.stderr).toMatch(sentence);
    expect(ended).toMatchObject({ exitCode: 3, stdout: '' });
    expect(ended.stderr).not.toMatch(/abcdefgh12345678|svc_prod_sk/);
    expect(await versions(project)).toEqual(before);
  });

  test('the value of a secret variable, by its name', async () => {
    const project = await deployedProject(installation, installation.keys.prod, {
      'tasks/a.ts': taskFile('a', "'hunter2-hunter2'"),
    });
    expect((await project.run('env', 'set', 'LOGIN=hunter2-hunter2', '--secret')).exitCode).toBe(0);
    const ended = await project.run('deploy', '--force');
    expect(ended).toMatchObject({ exitCode: 3, stdout: '' });
    expect(ended.stderr).toContain(
      'tasks/a.ts.mjs: contains the value of LOGIN (a secret variable of the environment)',
    );
    expect(ended.stderr).not.toContain('hunter2');
    await project.run('env', 'unset', 'LOGIN');
  });

  test('a key of another environment, a wrong key, and an address without a server', async () => {
    const project = await deployedProject(installation, installation.keys.prod, good);
    expect(await project.run('deploy', '--env', 'stg')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('The key belongs to prod, but --env is stg'),
    });
    expect(await project.run('deploy', '--key', `svc_prod_sk_${'x'.repeat(32)}`)).toMatchObject({
      exitCode: 4,
    });
    expect(await project.run('deploy', '--url', 'http://127.0.0.1:9')).toMatchObject({ exitCode: 4 });
    await project.write('millrace.config.ts', "export default { project: 'proj_other' };");
    expect(await project.run('deploy', '--force')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/belongs to the project proj_\w+, but .* specifies proj_other/),
    });
    await rm(join(project.dir, 'tasks'), { recursive: true });
    expect(await project.run('deploy')).toMatchObject({ exitCode: 3 });
  });
});
