import { once } from 'node:events';
import { mkdir, readFile, stat } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  finished as finishedProcess,
  millrace,
  temporaryProject,
  type Folder,
  type Running,
} from './command.ts';
import { finished } from './in-process.ts';

type Env = Readonly<Record<string, string>>;
interface Secrets {
  readonly projectRef: string;
  readonly personalAccessToken?: string;
  readonly environments: Readonly<Record<string, { secretKey?: string }>>;
}

async function folder(): Promise<Folder> {
  const project = await temporaryProject({});
  onTestFinished(project.remove);
  return project;
}

/** Starts a server and returns its ready line. */
async function start({ path }: Folder, args: readonly string[] = [], env: Env = {}) {
  const running = millrace(['start', '--data', 'data', '--port', '0', ...args], { cwd: path, env });
  onTestFinished(async () => {
    running.kill('SIGKILL');
    await running.exitCode;
  });
  const line = await running.line(/^(\{"url"|Millrace .* serves)/);
  const url = /http:\/\/[\w.:]+/.exec(line)?.[0] ?? '';
  const status = async (at: string, credential = ''): Promise<number> =>
    (await fetch(url + at, { headers: { authorization: `Bearer ${credential}` } })).status;
  return Object.assign(running, { ready: line, status });
}

async function stop(running: Running): Promise<void> {
  running.kill('SIGTERM');
  expect(await running.exitCode).toBe(0);
}

const outputOf = ({ stdout, stderr }: Running): string => [...stdout, ...stderr].join('\n');
const secret = /svc_\w+_(?:sk_)?\w{20,}|svc_pat_\w+/;

test(
  'without a terminal on stdout the secrets are written only to a file that only this user can read',
  { timeout: 90_000 },
  async () => {
    const here = await folder();
    const first = await start(here);
    await first.line(/millrace-secrets\.json, which only this user can read/);
    await first.line(/then delete/);
    expect(outputOf(first)).not.toMatch(secret);
    const file = join(here.path, 'data', 'millrace-secrets.json');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const text = await readFile(file, 'utf8');
    const { personalAccessToken, environments, projectRef } = JSON.parse(text) as Secrets;
    expect(Object.keys(environments)).toEqual(['dev', 'stg', 'prod', 'preview']);
    for (const kind of ['dev', 'stg', 'prod'] as const)
      expect(await first.status('/api/v1/errors', environments[kind]?.secretKey)).toBe(200);
    expect(await first.status(`/api/v1/projects/${projectRef}`, personalAccessToken)).toBe(200);
    await stop(first);

    const later = await start(here, ['--json', '--show-secrets']);
    expect(JSON.parse(later.ready)).toEqual({ url: expect.any(String) as string });
    await stop(later);
    expect(await readFile(file, 'utf8')).toBe(text);
  },
);

test('--json names the file; --show-secrets shows them instead', { timeout: 90_000 }, async () => {
  const [quiet, shows] = [await folder(), await folder()];
  const file = join(quiet.path, 'mine.json');
  const first = await start(quiet, ['--json'], { MILLRACE_SECRETS_FILE: file });
  expect(JSON.parse(first.ready)).toEqual({ url: expect.any(String) as string, secretsFile: file });
  expect(outputOf(first)).not.toMatch(secret);
  expect(await readFile(file, 'utf8')).toMatch(secret);
  await stop(first);

  const second = await start(shows, ['--json', '--show-secrets']);
  expect(Object.keys(JSON.parse(second.ready) as object)).toEqual([
    'url',
    'projectRef',
    'personalAccessToken',
    'environments',
  ]);
  expect(second.ready).toMatch(secret);
  await expect(stat(join(shows.path, 'data', 'millrace-secrets.json'))).rejects.toThrow('ENOENT');
});

test(
  'where the file cannot be written nothing is created, and the next start creates it',
  { timeout: 90_000 },
  async () => {
    const here = await folder();
    await here.write('taken.json', '"somebody else’s"');
    await mkdir(join(here.path, 'a-folder'));
    for (const file of ['taken.json', 'nowhere/secrets.json', 'a-folder']) {
      const { exitCode, stdout, stderr } = await finishedProcess(
        ['start', '--data', 'data', '--port', '0', '--secrets-file', file],
        { cwd: here.path },
      );
      expect([exitCode, stdout]).toEqual([3, '']);
      expect(stderr).toMatch(/cannot be written to .*nothing was created.*--secrets-file/);
    }
    expect(await readFile(join(here.path, 'taken.json'), 'utf8')).toContain('somebody');
    // The rest of a start that was killed before it created anything is replaced.
    await here.write('secrets.json', '{"projectRef":"proj_of_a_start_that_died"}');
    const first = await start(here, ['--secrets-file', 'secrets.json', '--json']);
    const { environments } = JSON.parse(await readFile(join(here.path, 'secrets.json'), 'utf8')) as Secrets;
    expect(await first.status('/api/v1/errors', environments['prod']?.secretKey)).toBe(200);
  },
);

test(
  'a first start that cannot listen creates nothing, and the next one does',
  { timeout: 90_000 },
  async () => {
    const here = await folder();
    const taken = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void taken.close());
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    for (const args of [
      ['--port', String(port)],
      ['--port', '0', '--host', 'nowhere.invalid'],
    ]) {
      const { exitCode, stdout } = await finishedProcess(['start', '--data', 'data', ...args], {
        cwd: here.path,
      });
      expect([exitCode, stdout]).toEqual([3, '']);
      await expect(stat(join(here.path, 'data', 'millrace-secrets.json'))).rejects.toThrow('ENOENT');
    }
    const first = await start(here, ['--json', '--show-secrets']);
    expect(JSON.parse(first.ready)).toMatchObject({ personalAccessToken: expect.any(String) as string });
  },
);

const bootstrap = {
  MILLRACE_BOOTSTRAP_PROJECT_REF: 'proj_abcdefghijklmnopqrst',
  MILLRACE_BOOTSTRAP_PROJECT_NAME: 'Shop',
  MILLRACE_BOOTSTRAP_DEV_SECRET_KEY: 'svc_dev_sk_aB3dE6gH9jK2mN5pQ8sT1vW4',
  MILLRACE_BOOTSTRAP_STG_SECRET_KEY: 'svc_stg_sk_aB3dE6gH9jK2mN5pQ8sT1vW4',
  MILLRACE_BOOTSTRAP_PROD_SECRET_KEY: 'svc_prod_sk_aB3dE6gH9jK2mN5pQ8sT1vW4',
  MILLRACE_BOOTSTRAP_PREVIEW_SECRET_KEY: 'svc_preview_sk_aB3dE6gH9jK2mN5pQ8sT1vW4',
  MILLRACE_BOOTSTRAP_ACCESS_TOKEN: `svc_pat_${'a1b2c3d4e5'.repeat(4)}`,
};

test(
  'secrets from the environment are used once, and written and shown nowhere',
  { timeout: 90_000 },
  async () => {
    const here = await folder();
    const first = await start(here, ['--json'], bootstrap);
    expect(JSON.parse(first.ready)).toEqual({ url: expect.any(String) as string });
    expect(await first.status('/api/v1/errors', bootstrap.MILLRACE_BOOTSTRAP_PROD_SECRET_KEY)).toBe(200);
    const project = `/api/v1/projects/${bootstrap.MILLRACE_BOOTSTRAP_PROJECT_REF}`;
    expect(await first.status(project, bootstrap.MILLRACE_BOOTSTRAP_ACCESS_TOKEN)).toBe(200);
    await stop(first);
    await expect(stat(join(here.path, 'data', 'millrace-secrets.json'))).rejects.toThrow('ENOENT');

    const again = await start(here, [], bootstrap);
    await stop(again);
    const other = 'svc_prod_sk_otherother0therother1234'.slice(0, 36);
    const changed = await start(here, [], { ...bootstrap, MILLRACE_BOOTSTRAP_PROD_SECRET_KEY: other });
    expect(await changed.status('/api/v1/errors', other)).toBe(401);
    expect(await changed.status('/api/v1/errors', bootstrap.MILLRACE_BOOTSTRAP_PROD_SECRET_KEY)).toBe(200);
    await stop(changed);
    expect(outputOf(again)).not.toContain('bootstrap.ignored');
    const warning = changed.stderr.find((line) => line.includes('bootstrap.ignored')) ?? '{}';
    expect(JSON.parse(warning)).toMatchObject({ variables: ['MILLRACE_BOOTSTRAP_PROD_SECRET_KEY'] });
    for (const running of [first, again, changed]) expect(outputOf(running)).not.toMatch(secret);

    const part = await folder();
    const { MILLRACE_BOOTSTRAP_PROD_SECRET_KEY } = bootstrap;
    const partly = await start(part, ['--json'], { MILLRACE_BOOTSTRAP_PROD_SECRET_KEY });
    const { secretsFile } = JSON.parse(partly.ready) as { secretsFile: string };
    const written = JSON.parse(await readFile(secretsFile, 'utf8')) as Secrets;
    expect(written.environments).toMatchObject({
      prod: {},
      stg: { secretKey: expect.any(String) as string },
    });
    expect(JSON.stringify(written)).not.toContain(MILLRACE_BOOTSTRAP_PROD_SECRET_KEY);
    expect(await partly.status('/api/v1/errors', MILLRACE_BOOTSTRAP_PROD_SECRET_KEY)).toBe(200);
  },
);

test('an invalid secret is rejected by its name, without its value', { timeout: 60_000 }, async () => {
  const here = await folder();
  for (const [name, value, hint] of [
    ['PROD_SECRET_KEY', bootstrap.MILLRACE_BOOTSTRAP_STG_SECRET_KEY, 'secret key of prod'],
    ['STG_SECRET_KEY', 'svc_stg_sk_short', '24 letters and digits'],
    ['ACCESS_TOKEN', 'svc_pat_tooshort', '40 characters'],
    ['PROJECT_REF', 'proj_Shop', '20 lower-case letters'],
    ['PROJECT_NAME', 'x'.repeat(65), '64 characters'],
    ['PROD_KEY', 'svc_prod_sk_x', 'MILLRACE_BOOTSTRAP_PROD_SECRET_KEY'],
  ] as const) {
    const { exitCode, stderr } = await finished(['start', '--data', 'data', '--port', '0'], {
      cwd: here.path,
      env: { [`MILLRACE_BOOTSTRAP_${name}`]: value },
    });
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(hint)]);
    expect(stderr).toContain(`MILLRACE_BOOTSTRAP_${name}`);
    expect(stderr).not.toContain(value);
  }
  await expect(stat(join(here.path, 'data'))).rejects.toThrow('ENOENT');
});
