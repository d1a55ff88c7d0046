import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import type { Database } from '../../packages/server/src/db/connect.ts';
import {
  startVariableServer,
  type VariableServer,
} from '../../packages/server/src/envvars/testing/variable-server.ts';
import { repository, temporaryProject, type Folder } from '../cli/command.ts';
import { finished } from '../cli/in-process.ts';

async function opened() {
  const served = await startVariableServer();
  const folder = await temporaryProject({});
  onTestFinished(folder.remove);
  return { served, folder, env: command(served, folder) };
}

/** `millrace env …` with the prod key. */
const command =
  ({ server, key }: VariableServer, { path }: Folder) =>
  (...args: string[]) =>
    finished(['env', ...args, '--url', server.url, '--key', key('prod')], { cwd: path });

const json = (stdout: string): unknown[] => stdout.split('\n').map((line) => JSON.parse(line) as unknown);

test('sets, lists and unsets variables; secrets are not shown', async () => {
  const { env } = await opened();
  expect(await env('list')).toEqual({ exitCode: 0, stdout: 'No variables.', stderr: '' });
  expect(await env('set', 'A=1=one', 'B=two words')).toMatchObject({ exitCode: 0, stdout: 'Set A.\nSet B.' });
  expect(await env('set', 'KEY=hidden value', '--secret')).toMatchObject({ exitCode: 0, stdout: 'Set KEY.' });
  expect(json((await env('list', '--json')).stdout)).toEqual([
    { name: 'A', value: '1=one', isSecret: false },
    { name: 'B', value: 'two words', isSecret: false },
    { name: 'KEY', value: '<redacted>', isSecret: true },
  ]);
  expect((await env('list')).stdout).toMatch(/^name +value\nA +1=one\nB +two words\nKEY +<redacted>$/);
  expect(await env('unset', 'A')).toMatchObject({ exitCode: 0, stdout: 'Deleted A.' });
  expect(await env('unset', 'A')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('not found') as string,
  });
  const refused = await env('set', 'MILLRACE_X=something');
  expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('reserved') as string });
  expect(refused.stderr).not.toContain('something');
});

test('reads a value from stdin, which keeps it out of the shell history', async () => {
  const { served, folder } = await opened();
  const { server, key, call } = served;
  const child = spawn(
    process.execPath,
    [
      join(repository, 'packages/millrace/bin/millrace.js'),
      'env',
      'set',
      'KEY',
      '--secret',
      '--url',
      server.url,
    ],
    { cwd: folder.path, env: { ...process.env, MILLRACE_SECRET_KEY: key('prod') } },
  );
  child.stdin.end('from stdin\nin two lines\n');
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  expect([output, code]).toEqual(['Set KEY.\n', 0]);
  expect((await call('GET', 'envvars')).body).toMatchObject({
    variables: { KEY: 'from stdin\nin two lines' },
  });
});

test('pulls into a file that only its owner can read, and pushes it back', { timeout: 60_000 }, async () => {
  const { env, folder, served } = await opened();
  const variables = { A: 'plain', B: "it's # not a comment", C: 'two\nlines', S: 'a secret' };
  await served.call('POST', 'envvars/prod/import', { body: { variables, isSecret: true } });
  expect(await env('pull')).toMatchObject({ exitCode: 0, stdout: 'Wrote 4 variables to .env.' });
  const file = join(folder.path, '.env');
  expect((await stat(file)).mode & 0o077).toBe(0);
  expect(await readFile(file, 'utf8')).toBe(
    "A=plain\nB=`it's # not a comment`\nC='two\nlines'\nS='a secret'\n",
  );
  expect(await env('pull')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('--force') as string,
  });
  await served.call('DELETE', 'envvars/prod/A');
  expect(await env('import', '.env')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/B: Variable already set in Production\./) as string,
  });
  expect(await env('push')).toMatchObject({ exitCode: 0, stdout: 'Set 4 variables from .env.' });
  expect((await served.call('GET', 'envvars')).body).toMatchObject({ variables });
  await chmod(file, 0o644);
  expect(await env('pull', '--force')).toMatchObject({ exitCode: 0 });
  expect((await stat(file)).mode & 0o077).toBe(0);
  // A key returns only the values of its own environment.
  const elsewhere = await env('pull', 'stg.env', '--project', served.ref, '--env', 'staging');
  expect(elsewhere).toMatchObject({
    exitCode: 2,
    stderr: 'millrace: The key belongs to prod, but --env is stg. Use the key of stg.',
  });
  await expect(stat(join(folder.path, 'stg.env'))).rejects.toThrow('ENOENT');
  await writeFile(file, "A=\nB=''\nC='  '\nMILLRACE_API_URL=http://127.0.0.1\n");
  expect((await env('push')).stdout).toBe(
    'Set 3 variables from .env. Skipped reserved names: MILLRACE_API_URL.',
  );
  const blank = { A: '', B: '', C: '  ' };
  expect((await served.call('GET', 'envvars')).body).toMatchObject({ variables: blank });
  expect(await env('set', 'S=')).toMatchObject({ exitCode: 0, stdout: 'Set S.' });
  expect(await env('pull', '--force')).toMatchObject({ exitCode: 0 });
  expect(await readFile(file, 'utf8')).toBe("A=''\nB=''\nC='  '\nS=''\n");
});

test('pull writes no secrets to a file that git does not ignore', { timeout: 60_000 }, async () => {
  const { env, folder, served } = await opened();
  const git = (...args: string[]) => promisify(execFile)('git', ['-C', folder.path, ...args]);
  await served.call('POST', 'envvars/prod/import', {
    body: { variables: { S: 'a secret' }, isSecret: true },
  });
  await git('init', '--quiet');
  const refused = await env('pull');
  expect(refused).toMatchObject({ exitCode: 1, stdout: '' });
  expect(refused.stderr).toMatch(
    /^millrace: git does not ignore \.env, .*add a line \.env\* to .*\.gitignore.*--force/,
  );
  await expect(stat(join(folder.path, '.env'))).rejects.toThrow('ENOENT');
  // A folder in it is inside the repository as well.
  await folder.write('deep/file', '');
  expect(await env('pull', 'deep/prod.env')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/add a line prod\.env to/) as string,
  });

  await folder.write('.gitignore', '.env*\n');
  expect(await env('pull')).toMatchObject({ exitCode: 0, stderr: '' });
  // git keeps tracking a file that it already tracks, even if the file is ignored.
  await folder.write('.gitignore', '.env*\n!.env.example\n');
  expect(await env('pull', '.env.example')).toMatchObject({
    exitCode: 1,
    stderr:
      'millrace: git does not ignore .env.example, which contains all secrets: remove the line !.env.example (.gitignore:2), or choose another file name. Nothing was written; --force writes it anyway.',
  });
  expect(await env('pull', 'nowhere/prod.env')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(
      /^millrace: The folder \S+\/nowhere for prod\.env does not exist\. Create it first\.$/,
    ) as string,
  });
  await git('add', '--force', '.env');
  expect((await env('pull', '.env')).stderr).toBe(
    'millrace: git does not ignore .env, which contains all secrets: remove it from git with `git rm --cached .env`. Nothing was written; --force writes it anyway.',
  );
  const tracked = await env('pull', '--force');
  expect(tracked).toMatchObject({
    exitCode: 0,
    stdout: 'Wrote 1 variables to .env.',
    stderr: expect.stringMatching(
      /^git does not ignore \.env, .*git rm --cached.*Writing it anyway\.$/,
    ) as string,
  });
  await folder.write('.git/index', 'broken');
  expect(await env('pull', '.env.stg')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/cannot determine whether git ignores it/) as string,
  });
});

test('shows the history, compares revisions and rolls back', { timeout: 60_000 }, async () => {
  const { env } = await opened();
  await env('set', 'A=1');
  await env('set', 'A=2', 'B=1');
  await env('unset', 'B');
  const history = (await env('history')).stdout.split('\n');
  expect(history[0]).toMatch(/^revision +when +what +who +variables$/);
  expect(
    history.slice(1).map((line) => [line.split(/ +/)[0], line.split(/ +/)[2], line.split(/ +/)[4]]),
  ).toEqual([
    ['4', 'delete', '-B'],
    ['3', 'set', '+B'],
    ['2', 'set', '~A'],
    ['1', 'set', '+A'],
  ]);
  expect((await env('diff', '1')).stdout).toBe('- A=1\n+ A=2');
  expect((await env('rollback', '1')).stdout).toBe('Restored revision 1 as revision 5: ~A.');
  expect(json((await env('list', '--json')).stdout)).toEqual([{ name: 'A', value: '1', isSecret: false }]);
  expect(json((await env('history', '--limit', '1', '--json')).stdout)).toMatchObject([
    { act: 'rollback', restored: 1 },
  ]);
  expect(await env('rollback', '99')).toMatchObject({ exitCode: 1 });
  expect((await env('diff', '0')).stdout).toBe('+ A=1');
  expect((await env('rollback', '0')).stdout).toBe('Restored revision 0 as revision 6: -A.');
});

test('takes project, environment and branch as options with a personal access token', async () => {
  const { served, folder } = await opened();
  await served.addBranch('preview', 'feat/x');
  const env = (...args: string[]) =>
    finished(['env', ...args, '--url', served.server.url, '--key', served.pat], { cwd: folder.path });
  const at = ['--project', served.ref, '--env', 'preview', '--branch', 'feat/x'];
  expect(await env('set', 'A=1', ...at)).toMatchObject({ exitCode: 0 });
  expect(json((await env('list', '--json', ...at)).stdout)).toHaveLength(1);
  expect((await env('list', '--json', ...at.slice(0, 4))).stdout).toBe('');
  expect(await env('list')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('as in --project proj_… --env prod.') as string,
  });
  expect(await env('list', '--project', served.ref)).toMatchObject({ exitCode: 2 });
});

const addressOf = (database: Database): string => {
  if (typeof database === 'string') return database;
  const { host, port, username, database: name } = database;
  return `postgresql://${username}@localhost:${port ?? 5432}/${name}?host=${encodeURIComponent(host)}`;
};

test('a command changes the master key, next to a server that has both', async () => {
  const [first, next, third] = ['ab', 'cd', 'ef'].map((byte) => byte.repeat(32)) as [string, string, string];
  const { parseMasterKey } = await import('../../packages/server/src/auth/master-key.ts');
  const masterKey = parseMasterKey(first, 'test');
  const served = await startVariableServer({
    masterKey: { ...masterKey, previous: parseMasterKey(next, 'test') },
  });
  const folder = await temporaryProject({});
  onTestFinished(folder.remove);
  await served.call('POST', 'envvars/prod', { body: { name: 'A', value: '1' } });
  const rotate = (env: Record<string, string>) =>
    finished(['keys', 'rotate-master', '--json'], {
      cwd: folder.path,
      env: { DATABASE_URL: addressOf(served.database), ...env },
    });
  expect(await rotate({ MILLRACE_MASTER_KEY: next })).toMatchObject({ exitCode: 2 });
  const wrong = await rotate({ MILLRACE_MASTER_KEY: next, MILLRACE_MASTER_KEY_PREVIOUS: third });
  expect(wrong).toMatchObject({
    exitCode: 3,
    stderr: expect.stringContaining('either of the two keys') as string,
  });
  for (const key of [first, next, third]) expect(wrong.stderr).not.toContain(key);
  const done = await rotate({ MILLRACE_MASTER_KEY: next, MILLRACE_MASTER_KEY_PREVIOUS: first });
  expect(done.exitCode).toBe(0);
  expect((JSON.parse(done.stdout) as { resealed: number }).resealed).toBeGreaterThan(5);
  expect((await served.call('GET', 'envvars')).body).toEqual({ variables: { A: '1' }, revision: 1 });
});
