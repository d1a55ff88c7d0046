import { describe, expect, test } from 'vitest';
import { installation, sharedInstallation, type SharedInstallation } from '../installation.ts';
import { cookieIn, fromPage, logIn } from './tab.ts';

const hour = 3_600_000;
const open = ({ ask }: SharedInstallation, body: object, headers: Readonly<Record<string, string>> = {}) =>
  ask('POST /api/v1/browser-sessions', { key: '', body, headers: { ...fromPage, ...headers } });

describe('a browser session', () => {
  test('is opened by a personal access token, and is stored in a cookie that scripts and other sites cannot read', async () => {
    const here = await installation();
    const { server, sql, logged, token } = here;
    const answer = await open(here, { accessToken: ` ${token}\n` }, { 'user-agent': 'Firefox/150' });
    expect(answer.body).toEqual({
      session: {
        id: expect.stringMatching(/^browser_\w{20}$/) as string,
        method: 'token',
        userAgent: 'Firefox/150',
        address: expect.stringMatching(/127\.0\.0\.1$/) as string,
        createdAt: expect.any(String) as string,
        lastUsedAt: expect.any(String) as string,
        expiresAt: expect.any(String) as string,
        isCurrent: true,
      },
    });
    const days = (Date.parse(answer.body.session.expiresAt as string) - Date.now()) / (24 * hour);
    expect(Math.round(days)).toBe(30);
    const [set = '', ...more] = answer.headers.getSetCookie();
    expect(more).toEqual([]);
    // With the port, because cookies are shared by all ports of a host.
    expect(set).toMatch(
      new RegExp(
        `^millrace_session_${server.port}=svc_browser_[1-9a-km-z]{40}; Path=/; Max-Age=25\\d{5}; HttpOnly; SameSite=Strict$`,
      ),
    );
    const text = cookieIn(answer).split('=')[1] ?? '';
    const stored = JSON.stringify(await sql`select s::text from browser_sessions s`);
    expect(stored + JSON.stringify(answer.body) + logged.join('')).not.toContain(text);
  });

  test('behind TLS, the cookie is limited to TLS and this host; below a path, it is limited to that path', async () => {
    const here = await sharedInstallation();
    const behind = (headers: Readonly<Record<string, string>>) =>
      open(here, { accessToken: here.token }, headers).then(({ headers: reply }) => reply.getSetCookie()[0]);
    const proxied = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'jobs.example.com' };
    expect(await behind(proxied)).toMatch(
      /^__Host-millrace_session=\w+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict; Secure$/,
    );
    expect(await behind({ ...proxied, 'x-forwarded-prefix': '/millrace' })).toMatch(
      /^__Secure-millrace_session=\w+; Path=\/millrace\/; .*; Secure$/,
    );
    // The proxy does not report that it ends TLS. The browser does.
    const { host } = new URL(here.server.url);
    expect(await behind({ origin: `https://${host}` })).toMatch(/^__Host-millrace_session_\d+=.*; Secure$/);
    const tab = await logIn(here, undefined, { headers: { origin: `https://${host}` } });
    expect((await tab.ask('GET /api/v1/browser-sessions/current')).status).toBe(200);
    // A cookie without the prefix is not accepted where TLS is known: any host of the domain could have set it.
    const plain = tab.cookie.replace('__Host-', '');
    const tossed = { ...proxied, cookie: plain };
    expect((await tab.ask('GET /api/v1/browser-sessions/current', { headers: tossed })).status).toBe(401);
  });

  test('shows the user who is logged in, and their environments', async () => {
    const here = await sharedInstallation();
    const { userWith, projectRef, organization } = here;
    const viewer = await userWith('viewer');
    const tab = await logIn(here, { accessToken: viewer.token });
    const { status, body } = await tab.ask('GET /api/v1/browser-sessions/current');
    expect(status).toBe(200);
    expect(body).toEqual({
      session: expect.objectContaining({ id: tab.id, isCurrent: true }) as object,
      user: { id: viewer.id, name: 'viewer', email: viewer.email },
      organizations: [{ id: organization, name: 'My organization', role: 'viewer' }],
      projects: [
        {
          ref: projectRef,
          name: 'My project',
          organization: { id: organization, name: 'My organization' },
          role: 'viewer',
          environments: ['dev', 'stg', 'prod', 'preview'].map((name) => ({
            id: expect.stringMatching(/^env_/) as string,
            name,
            paused: false,
          })),
        },
      ],
      server: { version: expect.stringMatching(/^\d+\.\d+\.\d+/) as string, pausedAt: null },
    });
  });

  test('acts in the environment that its headers name, and nowhere without them', async () => {
    const here = await sharedInstallation();
    const { keys, ask, projectRef } = here;
    const created = await ask('POST /api/v1/waitpoints/tokens', { key: keys.stg, body: {} });
    const tab = await logIn(here);
    const list = (headers: Readonly<Record<string, string>>) =>
      tab.ask('GET /api/v1/waitpoints/tokens', { headers });
    const named = (env: string, project = projectRef) => ({
      'x-millrace-project': project,
      'x-millrace-environment': env,
    });
    expect((await list(named('stg'))).body.data).toMatchObject([{ id: created.body.id }]);
    expect((await list(named('staging'))).body.data).toMatchObject([{ id: created.body.id }]);
    expect((await list(named('prod'))).body.data).toEqual([]);
    for (const [headers, status, sentence] of [
      [{}, 400, 'x-millrace-project header required'],
      [{ 'x-millrace-project': projectRef }, 400, 'x-millrace-environment header required'],
      [named('live'), 400, 'x-millrace-environment: "live" is not one of dev, stg, prod, preview'],
      [named('preview'), 400, 'x-trigger-branch header required'],
      [named('prod', 'proj_nobodys'), 404, 'not found'],
      [{ ...named('preview'), 'x-trigger-branch': 'nobodys' }, 404, 'not found'],
    ] as const) {
      const { status: got, body } = await list(headers);
      expect([got, body.error]).toEqual([status, expect.stringContaining(sentence)]);
    }
    const project = `/api/v1/projects/${projectRef}`;
    expect(
      (await tab.ask(`POST ${project}/branches`, { body: { branch: 'feat', env: 'preview' } })).status,
    ).toBe(200);
    expect((await list({ ...named('preview'), 'x-trigger-branch': 'feat' })).status).toBe(200);
  });

  test('the dev environment is that of the user', async () => {
    const here = await sharedInstallation();
    const { keys, ask, userWith } = here;
    await ask('POST /api/v1/waitpoints/tokens', { key: keys.dev, body: {} });
    const other = await logIn(here, { accessToken: (await userWith('admin')).token });
    const own = await logIn(here);
    expect((await own.ask('GET /api/v1/waitpoints/tokens', { env: 'dev' })).body.data).toHaveLength(1);
    expect((await other.ask('GET /api/v1/waitpoints/tokens', { env: 'dev' })).body.data).toEqual([]);
  });

  test('an Authorization header takes precedence over it, and replies to keys are unchanged', async () => {
    const here = await sharedInstallation();
    const { keys, ask } = here;
    const tab = await logIn(here);
    const headers = { ...fromPage, cookie: tab.cookie };
    const both = (key: string) => ask('GET /api/v1/whoami', { key, headers });
    expect((await both(keys.prod)).body).toMatchObject({ kind: 'secretKey' });
    expect((await both('svc_prod_sk_000000000000000000000000')).status).toBe(401);
    expect((await both('')).body).toMatchObject({
      kind: 'browser',
      credentialId: tab.id,
      user: { name: 'Owner' },
    });
    // An empty header comes from a client that has lost its key, not from the page.
    expect(
      (await ask('GET /api/v1/whoami', { key: '', headers: { ...headers, authorization: '' } })).status,
    ).toBe(401);
  });

  test('is listed with the others of its user, and ended at once by either side', async () => {
    const here = await installation();
    const { ask, another, organization, userWith } = here;
    const [first, second] = [await logIn(here), await logIn(here)];
    const stranger = await logIn(here, { accessToken: (await userWith('admin')).token });
    const elsewhere = await another();
    const { data } = (await first.ask('GET /api/v1/browser-sessions')).body as {
      data: { id: string; isCurrent: boolean }[];
    };
    const listed = Object.fromEntries(data.map(({ id, isCurrent }) => [id, isCurrent]));
    expect(listed).toEqual({ [first.id]: true, [second.id]: false });
    expect((await ask('GET /api/v1/browser-sessions')).body.data).toHaveLength(2);
    const options = { server: elsewhere };
    expect((await second.ask('GET /api/v1/browser-sessions/current', options)).status).toBe(200);
    expect((await stranger.ask(`DELETE /api/v1/browser-sessions/${second.id}`)).status).toBe(404);
    expect((await first.ask(`DELETE /api/v1/browser-sessions/${second.id}`)).body).toEqual({ id: second.id });
    expect((await second.ask('GET /api/v1/browser-sessions/current')).status).toBe(401);
    await expect
      .poll(async () => (await second.ask('GET /api/v1/browser-sessions/current', options)).status, {
        timeout: 1_000,
        interval: 50,
      })
      .toBe(401);
    // Again: nothing more happens.
    expect((await first.ask(`DELETE /api/v1/browser-sessions/${second.id}`)).status).toBe(200);

    const out = await first.ask('DELETE /api/v1/browser-sessions/current');
    expect(out.headers.getSetCookie()[0]).toMatch(
      /^millrace_session_\d+=; Path=\/; Max-Age=0; HttpOnly; SameSite=Strict$/,
    );
    expect((await first.ask('GET /api/v1/browser-sessions/current')).status).toBe(401);
    const { body: audit } = await ask(
      `GET /api/v1/orgs/${organization}/audit?filter[act]=browserSession.revoked`,
    );
    expect(audit.data.map(({ target }: { target: string }) => target)).toEqual([first.id, second.id]);
    expect(audit.data[0].actor).toMatchObject({ kind: 'user', credentialId: first.id });
  });
});

describe('a login', () => {
  test('never reuses the earlier cookie of the browser: it gets a new text, and the earlier session ends', async () => {
    const here = await installation();
    const { token, server, organization, ask } = here;
    // An attacker planted a text of their choice.
    const planted = `svc_browser_${'a'.repeat(40)}`;
    const name = `millrace_session_${server.port}`;
    const answer = await open(here, { accessToken: token }, { cookie: `${name}=${planted}` });
    expect(cookieIn(answer)).not.toContain(planted);
    const currentWith = (cookie: string) =>
      ask('GET /api/v1/browser-sessions/current', { key: '', headers: { ...fromPage, cookie } });
    expect((await currentWith(`${name}=${planted}`)).status).toBe(401);

    const before = await logIn(here);
    const after = await logIn(here, undefined, { headers: { cookie: before.cookie } });
    expect(after.cookie).not.toBe(before.cookie);
    expect((await before.ask('GET /api/v1/browser-sessions/current')).status).toBe(401);
    expect((await after.ask('GET /api/v1/browser-sessions/current')).status).toBe(200);
    const { body: audit } = await ask(`GET /api/v1/orgs/${organization}/audit?filter[target]=${before.id}`);
    expect(audit.data.map(({ act }: { act: string }) => act)).toEqual([
      'browserSession.revoked',
      'browserSession.created',
    ]);
    // Two cookies with one name, of which another page may have set one: neither counts.
    expect((await currentWith(`${after.cookie}; ${name}=${planted}`)).status).toBe(401);
    expect((await currentWith(`${after.cookie}; ${after.cookie}`)).status).toBe(200);
  });

  test('by a link works once, for ten minutes, as the user who created it', async () => {
    const here = await installation();
    const { ask, server, sql, logged, organization, userWith } = here;
    const member = await userWith('member');
    const created = await ask('POST /api/v1/browser-links', { key: member.token });
    const { token, url, expiresAt } = created.body as { token: string; url: string; expiresAt: string };
    // The fragment is not sent to servers, so proxies do not log it.
    expect(url).toBe(`${server.url}/login#link=${token}`);
    expect(Math.round((Date.parse(expiresAt) - Date.now()) / 60_000)).toBe(10);
    const both = await Promise.all([open(here, { token }), open(here, { token })]);
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set([200, 401]));
    expect(both.find(({ status }) => status === 200)?.body.session).toMatchObject({ method: 'link' });
    const late = (await ask('POST /api/v1/browser-links')).body.token as string;
    await sql`update browser_links set expires_at = now()`;
    expect(await open(here, { token: late })).toMatchObject({
      status: 401,
      body: { error: expect.stringContaining('millrace open') as string },
    });
    const { body: audit } = await ask(
      `GET /api/v1/orgs/${organization}/audit?filter[act]=browserSession.created`,
    );
    expect(audit.data).toMatchObject([{ actor: { kind: 'user', id: member.id }, new: { method: 'link' } }]);
    const stored = JSON.stringify(await sql`select l::text from browser_links l`);
    for (const secret of [token, late])
      expect(stored + logged.join('') + JSON.stringify(audit)).not.toContain(secret);
  });

  test('by approval waits until the user approves its code where they are logged in', async () => {
    const here = await sharedInstallation();
    const { ask } = here;
    const login = await ask('POST /api/v1/authorization-code', { key: '', body: { hostName: 'a browser' } });
    const { authorizationCode, userCode } = login.body as { authorizationCode: string; userCode: string };
    const polled = await open(here, { authorizationCode });
    expect(polled.body).toEqual({ session: null, state: 'authorization_pending', interval: 1 });
    expect(polled.headers.getSetCookie()).toEqual([]);
    await ask('POST /api/v1/authorization-code/approve', { body: { userCode } });
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const both = await Promise.all([open(here, { authorizationCode }), open(here, { authorizationCode })]);
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set([200, 401]));
    expect(both.find(({ status }) => status === 200)?.body.session).toMatchObject({ method: 'approval' });
    // It is not a token for the command line either.
    expect((await ask('POST /api/v1/token', { key: '', body: { authorizationCode } })).body).toMatchObject({
      state: 'used',
    });
    expect((await open(here, { authorizationCode: 'svc_code_none' })).status).toBe(404);
  });

  test('names the fault of an invalid request', async () => {
    const here = await sharedInstallation();
    const { token, keys } = here;
    for (const [body, status, sentence] of [
      [{}, 400, 'send one of token, accessToken, authorizationCode, or email with password'],
      [{ token: 'x', accessToken: token }, 400, 'send one of'],
      [{ email: 'a@example.com' }, 400, 'send one of'],
      [{ accessToken: token, next: 'https://example.com' }, 400, 'next'],
      [{ accessToken: 'x' }, 401, 'Invalid personal access token'],
      [{ accessToken: keys.prod }, 401, 'Invalid personal access token'],
      [{ token: `svc_link_${'a'.repeat(40)}` }, 401, 'already been used'],
      [{ token: 'x\0' }, 400, 'NUL'],
      [{ email: 'a\0@example.com', password: 'x' }, 400, 'NUL'],
    ] as const) {
      const { status: got, body: reply } = await open(here, body);
      expect([body, got, reply.error]).toEqual([body, status, expect.stringContaining(sentence)]);
    }
  });

  test('is limited for each address, and links for each user', async () => {
    const limit = { burst: 3, perSecond: 0.001 };
    const here = await installation({
      rateLimits: { browsers: { logins: limit, links: limit } },
      trustedProxies: ['127.0.0.0/8', '::1'],
    });
    const { ask, token, userWith } = here;
    const from = async (address: string, accessToken: string) =>
      (await open(here, { accessToken }, { 'x-forwarded-for': address })).status;
    const statuses: number[] = [];
    for (const accessToken of [token, 'wrong', token, token])
      statuses.push(await from('203.0.113.1', accessToken));
    expect(statuses).toEqual([200, 401, 200, 429]);
    expect(await from('203.0.113.2', token)).toBe(200);
    const links = async (key: string) => (await ask('POST /api/v1/browser-links', { key })).status;
    const created = [await links(token), await links(token), await links(token), await links(token)];
    expect([...created, await links((await userWith('member')).token)]).toEqual([200, 200, 200, 429, 200]);
  });

  test('that fails opens no session and uses up no credential', async () => {
    const here = await installation();
    const { ask, sql } = here;
    const { token } = (await ask('POST /api/v1/browser-links')).body as { token: string };
    // As if the server died before the commit.
    await sql`alter table browser_sessions add constraint no_more check (false) not valid`;
    expect((await open(here, { token })).status).toBe(500);
    await sql`alter table browser_sessions drop constraint no_more`;
    expect((await open(here, { token })).status).toBe(200);
    expect((await ask('GET /api/v1/browser-sessions')).body.data).toHaveLength(1);
  });
});
