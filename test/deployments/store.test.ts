import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startS3Server } from '../../packages/server/src/versions/deployments/testing/s3-server.ts';
import { finished } from '../cli/command.ts';
import { deployedProject, startFetchingRunner, startInstallation, taskFile } from './installation.ts';

test('with a bundle store, code is deployed to it and fetched from it, also after an outage', async () => {
  const s3 = await startS3Server();
  const { endpoint = '', bucket, accessKeyId, secretAccessKey } = s3.settings;
  const env = {
    MILLRACE_BUNDLE_STORE: `s3://${bucket}/code`,
    AWS_ENDPOINT_URL_S3: endpoint,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
  };
  const installation = await startInstallation(env);
  onTestFinished(() => installation.stop());
  const { keys } = installation;
  const runner = await startFetchingRunner(installation, keys.prod);
  const project = await deployedProject(installation, keys.prod, { 'tasks/a.ts': taskFile('a', "'one'") });
  const first = await project.run('deploy');
  expect(first).toMatchObject({ exitCode: 0, json: { isCurrent: true } });
  const keysOf = async () => [...(await s3.objects()).keys()];
  expect((await keysOf()).length).toBeGreaterThanOrEqual(first.json.files as number);
  expect((await keysOf()).every((key) => key.startsWith('code/'))).toBe(true);
  expect((await project.run('trigger', 'a', '--wait')).json).toMatchObject({ output: 'one' });
  // A runner that has the version continues during an outage of the store, and a deployment waits for it.
  await s3.stop();
  expect((await project.run('trigger', 'a', '--wait')).json).toMatchObject({ output: 'one' });
  await project.write('tasks/a.ts', taskFile('a', "'two'"));
  const second = project.start('deploy', '--json');
  await expect
    .poll(async () => (await project.run('versions', 'list')).stdout, { timeout: 30_000 })
    .toContain('"state":"uploading"');
  await s3.start();
  expect(await second.exitCode).toBe(0);
  expect((await project.run('trigger', 'a', '--wait')).json).toMatchObject({ output: 'two' });
  // An empty runner fetches from the store when it is back.
  runner.kill('SIGKILL');
  await runner.exitCode;
  await s3.stop();
  await startFetchingRunner(installation, keys.prod);
  const waiting = project.start('trigger', 'a', '--wait', '--json');
  await waiting.line(/"triggered"/);
  await s3.start();
  expect(await waiting.exitCode).toBe(0);
  expect(waiting.stdout.at(-1)).toContain('"two"');
}, 180_000);

test('a server does not start with a missing bucket, a missing setting or wrong credentials', async () => {
  const s3 = await startS3Server();
  const cwd = await mkdtemp(join(tmpdir(), 'millrace-store-'));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  const env = {
    MILLRACE_BUNDLE_STORE: 's3://nowhere',
    AWS_ENDPOINT_URL: s3.settings.endpoint ?? '',
    AWS_ACCESS_KEY_ID: 'S3RVER',
    AWS_SECRET_ACCESS_KEY: 'S3RVER',
  };
  const started = (changes: Readonly<Record<string, string>>) =>
    finished(['start', '--data', 'data', '--port', '0', '--json'], { cwd, env: { ...env, ...changes } });
  expect(await started({})).toMatchObject({
    exitCode: 3,
    stdout: '',
    stderr: expect.stringContaining('MILLRACE_BUNDLE_STORE: no bucket "nowhere" at http://') as string,
  });
  const wrong = await started({ MILLRACE_BUNDLE_STORE: 's3://bundles', AWS_ACCESS_KEY_ID: 'NOBODY' });
  expect(wrong).toMatchObject({
    exitCode: 3,
    stderr: expect.stringContaining('403 InvalidAccessKeyId') as string,
  });
  expect(await started({ AWS_ACCESS_KEY_ID: '' })).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('AWS_ACCESS_KEY_ID is required for MILLRACE_BUNDLE_STORE.') as string,
  });
}, 60_000);
