import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDev, temporaryProject, type Folder, type Ready, type Running } from './command.ts';
import { finished } from './in-process.ts';

let project: Folder;
let elsewhere: Folder;
let dev: Running & { ready: Ready };
beforeAll(async () => {
  project = await temporaryProject({ 'tasks/a.ts': '' });
  elsewhere = await temporaryProject({});
  dev = await startDev(project.path);
}, 60_000);
afterAll(async () => {
  dev?.kill('SIGTERM');
  await dev?.exitCode;
  await project?.remove();
  await elsewhere?.remove();
});

const command = (...args: string[]) =>
  finished(args, { cwd: elsewhere.path, env: { XDG_CONFIG_HOME: elsewhere.path } });
const isStored = () => existsSync(join(elsewhere.path, 'millrace', 'login.json'));

const newToken = async (): Promise<string> => {
  const { url, personalAccessToken } = dev.ready;
  const created = await command(
    'tokens',
    'create',
    'mine',
    '--url',
    url,
    '--key',
    personalAccessToken,
    '--json',
  );
  return (JSON.parse(created.stdout) as { token: string }).token;
};
const isGood = async (token: string): Promise<boolean> =>
  (await command('whoami', '--url', dev.ready.url, '--token', token)).exitCode === 0;

test('logout forgets the token, which remains valid; with --revoke it ends', async () => {
  const { url } = dev.ready;
  expect(await command('logout')).toEqual({ exitCode: 0, stdout: 'Not logged in.', stderr: '' });
  const first = await newToken();
  await command('login', '--url', url, '--token', first);
  expect(isStored()).toBe(true);
  expect(await command('logout')).toMatchObject({
    exitCode: 0,
    stdout: `Logged out of ${url}. The token remains valid; \`millrace tokens revoke\` revokes it.`,
  });
  expect(isStored()).toBe(false);
  expect(await command('whoami')).toMatchObject({ exitCode: 4 });
  expect(await isGood(first)).toBe(true);

  await command('login', '--url', url, '--token', first);
  expect(await command('logout', '--revoke')).toMatchObject({
    exitCode: 0,
    stdout: `Logged out of ${url}. The token is revoked.`,
  });
  expect(isStored()).toBe(false);
  expect(await isGood(first)).toBe(false);
}, 60_000);

test('a token that could not be revoked is not forgotten; one that has already ended is', async () => {
  const { url, personalAccessToken } = dev.ready;
  const token = await newToken();
  await command('login', '--url', url, '--token', token);
  const id = (JSON.parse((await command('whoami', '--json')).stdout) as { credentialId: string })
    .credentialId;
  await command('tokens', 'revoke', id, '--url', url, '--key', personalAccessToken);
  expect(await command('logout', '--revoke', '--json')).toMatchObject({ exitCode: 0 });
  expect(isStored()).toBe(false);

  await command('login', '--url', url, '--token', await newToken());
  dev.kill('SIGTERM');
  await dev.exitCode;
  expect(await command('logout', '--revoke')).toMatchObject({ exitCode: 4 });
  expect(isStored()).toBe(true);
  expect(await command('logout')).toMatchObject({ exitCode: 0 });
  expect(isStored()).toBe(false);
}, 60_000);
