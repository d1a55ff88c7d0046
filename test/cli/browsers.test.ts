import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fromPage } from '../access/browser/tab.ts';
import { testServer, type TestServer } from '../support/server.ts';
import { millrace, temporaryProject } from './command.ts';
import { giveDevData } from './first-data.ts';
import { finished } from './in-process.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'millrace-browsers-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const environment = (server: TestServer) => ({
  XDG_CONFIG_HOME: home,
  MILLRACE_API_URL: server.url,
  MILLRACE_ACCESS_TOKEN: server.personalAccessToken,
});

const run = (server: TestServer, ...args: string[]) => ended(server, args);

async function ended(server: TestServer, args: readonly string[], input?: string) {
  const { exitCode, stdout, stderr } = await finished(args, {
    cwd: home,
    env: environment(server),
    ...(input !== undefined && { input }),
  });
  return { code: exitCode, out: stdout, error: stderr };
}

const logIn = (url: string, body: object): Promise<Response> =>
  fetch(`${url}/api/v1/browser-sessions`, { method: 'POST', headers: fromPage, body: JSON.stringify(body) });

const tokenIn = (link: string): string => new URL(link).hash.replace('#link=', '');

describe('the browser commands', () => {
  test('print a link that logs one browser in, list it, and log it out', async () => {
    const server = await testServer();
    const opened = await run(server, 'open', '--no-browser');
    expect(opened).toMatchObject({ code: 0, error: '' });
    const [link = '', hint] = opened.out.split('\n');
    expect(link).toMatch(new RegExp(`^${server.url}/login#link=svc_link_\\w{40}$`));
    expect(hint).toContain('once, within ten minutes');
    const { session } = (await (await logIn(server.url, { token: tokenIn(link) })).json()) as {
      session: { id: string };
    };
    expect((await logIn(server.url, { token: tokenIn(link) })).status).toBe(401);

    const listed = await run(server, 'browsers', 'list');
    expect(listed.out).toMatch(new RegExp(`^${session.id} +link +\\S*127\\.0\\.0\\.1 `, 'm'));
    expect(JSON.parse((await run(server, 'browsers', 'list', '--json')).out)).toMatchObject({
      id: session.id,
      isCurrent: false,
    });
    expect((await run(server, 'browsers', 'revoke', session.id)).out).toBe(`${session.id} is logged out.`);
    expect((await run(server, 'browsers', 'list', '--json')).out).toBe('');
    expect(await run(server, 'browsers', 'revoke', 'browser_none')).toMatchObject({
      code: 1,
      error: expect.stringContaining('Browser session not found') as string,
    });
    const asJson = JSON.parse((await run(server, 'open', '--json')).out) as { url: string };
    expect((await logIn(server.url, { token: tokenIn(asJson.url) })).status).toBe(200);
  });

  test('set a password from stdin, which then logs in, and remove it', async () => {
    const server = await testServer();
    const set = (password: string, ...args: string[]) =>
      ended(server, ['members', 'set-password', ...args], `${password}\n`);
    const password = 'correct horse battery';
    expect(await set(password)).toMatchObject({
      code: 1,
      error: expect.stringContaining('you have no e-mail address') as string,
    });
    expect(await set('too short', '--email', 'ada@example.com')).toMatchObject({
      code: 1,
      error: expect.stringContaining('at least 12 characters') as string,
    });
    const done = await set(password, '--email', 'ada@example.com');
    expect(done).toEqual({
      code: 0,
      out: `The password is set. Log in at ${server.url}/login with ada@example.com.`,
      error: '',
    });
    expect((await logIn(server.url, { email: 'ada@example.com', password })).status).toBe(200);
    expect(await run(server, 'members', 'set-password', '--remove')).toMatchObject({ code: 0, error: '' });
    expect((await logIn(server.url, { email: 'ada@example.com', password })).status).toBe(401);
  });

  test('open needs a login, and prints how to get one', async () => {
    const { exitCode, stderr } = await finished(['open'], { cwd: home, env: { XDG_CONFIG_HOME: home } });
    expect(exitCode).toBe(4);
    expect(stderr).toContain('millrace login');
  });
});

test(
  'dev prints the address of the dashboard, without a link where the output may be stored; open creates one',
  { timeout: 120_000 },
  async () => {
    const project = await temporaryProject({
      'tasks/a.ts':
        "import { task } from '@millrace/sdk';\nexport const a = task({ id: 'a', run: async () => 1 });\n",
    });
    await giveDevData(project.path);
    const dev = millrace(['dev', '--port', '0'], {
      cwd: project.path,
      env: { MILLRACE_BASE_PATH: '/tools/' },
    });
    try {
      const line = await dev.line(/^The dashboard is at /);
      expect(line).toMatch(
        /^The dashboard is at http:\/\/127\.0\.0\.1:\d+\/ \(`millrace open` logs you in\)$/,
      );
      await dev.line(/version.*\ba\b/);
      const command = () => finished(['open', '--no-browser'], { cwd: project.path });
      await expect.poll(async () => (await command()).exitCode, { timeout: 30_000 }).toBe(0);
      const [link = ''] = (await command()).stdout.split('\n');
      expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/tools\/login#link=svc_link_/);
      expect((await logIn(new URL(link).origin, { token: tokenIn(link) })).status).toBe(200);
      expect([...dev.stdout, ...dev.stderr].join()).not.toContain('svc_link_');
    } finally {
      dev.kill('SIGTERM');
      await dev.exitCode;
      await project.remove();
    }
  },
);

test('an invalid base path is rejected at the start', { timeout: 60_000 }, async () => {
  for (const MILLRACE_BASE_PATH of ['tools', '/a b', '/a"><script>', '/../x', '//x']) {
    const { exitCode, stderr } = await finished(['start', '--port', '0', '--data', join(home, 'data')], {
      cwd: home,
      env: { MILLRACE_BASE_PATH },
    });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('MILLRACE_BASE_PATH must be a path such as /millrace');
  }
});
