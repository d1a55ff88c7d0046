import { mkdtemp, rm, stat } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { testServer } from '../support/server.ts';
import { millrace } from './command.ts';
import { finished } from './in-process.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'millrace-access-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { exitCode, stdout, stderr } = await finished(args, {
    cwd: home,
    env: { XDG_CONFIG_HOME: home, ...env },
  });
  return { code: exitCode, out: stdout, error: stderr };
}

const json = async (...args: string[]) => {
  const { code, out, error } = await run([...args, '--json']);
  expect({ code, error }).toEqual({ code: 0, error: '' });
  // oxlint-disable-next-line typescript/no-unsafe-return -- the output of a command has any shape
  return out
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
};

describe('the access commands', () => {
  test('log in, create a working key, rotate and revoke it', async () => {
    const server = await testServer();
    const before = await run(['whoami']);
    expect(before).toMatchObject({ code: 4, error: expect.stringContaining('millrace login') as string });
    const MILLRACE_ACCESS_TOKEN = server.personalAccessToken;
    const login = await run(['login', '--url', server.url], { MILLRACE_ACCESS_TOKEN });
    expect(login).toMatchObject({ code: 0, out: expect.stringContaining(`Owner`) as string });
    expect(login.out).not.toContain(MILLRACE_ACCESS_TOKEN);
    expect((await stat(join(home, 'millrace', 'login.json'))).mode & 0o077).toBe(0);
    expect(await json('whoami')).toMatchObject([
      { user: { name: 'Owner' }, organizations: [{ role: 'owner' }] },
    ]);

    const [key] = await json('keys', 'create', 'ci', '--env', 'production', '--preset', 'observer');
    expect((await server.ask('/api/v1/errors', { key: key.key })).status).toBe(200);
    const [next] = await json('keys', 'rotate', key.id, '--env', 'prod', '--overlap', '1h');
    expect((await server.ask('/api/v1/errors', { key: next.key })).status).toBe(200);
    await json('keys', 'revoke', next.id, '--env', 'prod');
    await expect.poll(async () => (await server.ask('/api/v1/errors', { key: next.key })).status).toBe(401);
    const { out } = await run(['keys', 'list', '--env', 'prod']);
    expect(out).toMatch(/ci +observer +all .* revoked/);
    expect(out).not.toContain(next.key);
  });

  test('invite people, and list the members', async () => {
    const server = await testServer();
    expect((await run(['login', '--url', server.url, '--token', server.personalAccessToken])).code).toBe(0);
    const [org] = await json('orgs', 'list');
    expect(await json('orgs', 'rename', 'Ours')).toMatchObject([{ id: org.id, name: 'Ours' }]);
    const [taken] = await json('members', 'invite', 'bob@example.com');
    await json('members', 'uninvite', taken.id);
    const [invited] = await json('members', 'invite', 'ann@example.com', '--role', 'viewer');
    expect(await json('members', 'invitations')).toMatchObject([{ id: invited.id, role: 'viewer' }]);

    const elsewhere = { XDG_CONFIG_HOME: join(home, 'elsewhere') };
    const joining = ['--invitation', invited.token as string, '--name', 'Ann'];
    expect(await run(['login', '--url', server.url, ...joining], elsewhere)).toMatchObject({ code: 0 });
    const members = await json('members', 'list');
    expect(members).toMatchObject([{ role: 'owner' }, { name: 'Ann', role: 'viewer' }]);
    const ann = members[1].userId as string;
    expect(await run(['members', 'role', ann, 'boss'])).toMatchObject({ code: 2 });
    expect(await json('members', 'role', ann, 'member')).toMatchObject([{ role: 'member' }]);

    const [second] = await json('orgs', 'create', 'Second');
    expect(await run(['members', 'list'])).toMatchObject({
      code: 2,
      error: expect.stringContaining(second.id as string) as string,
    });
    const [other] = await json('members', 'invite', 'ann@example.com', '--org', second.id as string);
    expect((await run(['orgs', 'join', other.token as string], elsewhere)).out).toContain('Second');
    expect((await run(['orgs', 'leave', '--org', second.id as string], elsewhere)).code).toBe(0);
    expect(await json('members', 'remove', ann, '--org', org.id as string)).toMatchObject([{ name: 'Ann' }]);
    expect((await run(['orgs', 'list'], elsewhere)).out).toBe('None.');
  });

  test('approve the login of a machine', async () => {
    const server = await testServer();
    expect((await run(['login', '--url', server.url, '--token', server.personalAccessToken])).code).toBe(0);
    const machine = { XDG_CONFIG_HOME: join(home, 'machine') };
    const waiting = millrace(['login', '--approval', '--url', server.url], { cwd: home, env: machine });
    const [, code = ''] = /approve ([A-Z]{4}-[A-Z]{4})$/.exec(await waiting.line(/tokens approve/)) ?? [];
    const unasked = await run(['tokens', 'approve', code]);
    expect(unasked).toMatchObject({ code: 2, error: expect.stringContaining('--yes') as string });
    const approve = ['tokens', 'approve', code.toLowerCase().replace('-', ''), '--yes', '--json'];
    const approved = await run([...approve, '--name', 'build machine', '--expires', '30d']);
    expect(approved.error).toMatch(
      new RegExp(`name +${hostname()}\\n +client +millrace/.*\\n +address +127\\.0\\.0\\.1`),
    );
    const token = JSON.parse(approved.out) as { name: string; tokenExpiresAt: string };
    expect(token.name).toBe('build machine');
    expect(Math.round((Date.parse(token.tokenExpiresAt) - Date.now()) / 86_400_000)).toBe(30);
    expect(await waiting.exitCode).toBe(0);
    const output = [...waiting.stdout, ...waiting.stderr].join('\n');
    expect((await run(['whoami'], machine)).out).toMatch(/user +Owner/);
    expect((await json('tokens', 'list')).map(({ name }) => name as string)).toContain('build machine');
    expect(await run([...approve, '--name', 'again'])).toMatchObject({ code: 1 });
    expect(output).not.toContain('svc_code_');
  });

  test('list and create projects, tokens and branches, and name missing options', async () => {
    const server = await testServer();
    const login = ['login', '--url', server.url, '--token', server.personalAccessToken];
    expect((await run(login)).code).toBe(0);
    await json('branches', 'create', 'feat/x');
    expect(await json('branches', 'list')).toMatchObject([{ name: 'feat/x', env: 'preview' }]);
    await json('branches', 'archive', 'feat/x');
    expect(await run(['branches', 'archive', 'feat/x'])).toMatchObject({
      code: 1,
      error: expect.stringMatching(/404 [^;]*; see: millrace help not-found\n?$/) as string,
    });
    const [token] = await json('tokens', 'create', 'laptop');
    await json('tokens', 'revoke', token.id);
    expect(await json('tokens', 'list')).toHaveLength(2);
    const [project] = await json('projects', 'create', 'Second');
    expect(await json('projects', 'list')).toMatchObject([
      {},
      { externalRef: project.externalRef, name: 'Second' },
    ]);
    const inSecond = ['--project', project.externalRef as string] as const;
    expect(await json('projects', 'pause', 'staging', ...inSecond)).toMatchObject([{ paused: true }]);
    expect((await run(['projects', 'environments', ...inSecond])).out).toMatch(/stg .*paused\nprod .*runs/);
    expect(await json('projects', 'resume', 'stg', ...inSecond)).toMatchObject([{ paused: false }]);
    const remove = (...args: string[]) => run(['projects', 'delete', project.externalRef as string, ...args]);
    expect(await remove('--confirm', 'yes')).toMatchObject({ code: 1 });
    expect(await remove('--env', 'stg', '--confirm', 'stg')).toMatchObject({ code: 0 });
    expect(await remove()).toMatchObject({ code: 2 });
    expect(await run(['branches', 'list'])).toMatchObject({
      code: 2,
      error: expect.stringContaining('--project') as string,
    });
    expect(await remove('--confirm', project.externalRef as string)).toMatchObject({ code: 0 });
    expect(await json('projects', 'list')).toHaveLength(1);
    expect((await run(['login', '--url', server.url, '--token', server.keys.dev])).code).toBe(2);
    expect((await run(['login', '--url', server.url, '--token', 'nonsense'])).code).toBe(4);
  });
});
