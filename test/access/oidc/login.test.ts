import { describe, expect, test } from 'vitest';
import { Browser, current, logInAs, start, throughProvider } from './world.ts';

const textOf = async (response: Response) =>
  [response.status, (await response.text()).replaceAll(/^.*<\/h1><p>|<\/p>.*$/g, '')] as const;

describe('a login with an identity provider', () => {
  for (const where of ['idToken', 'userInfo'] as const)
    test(`creates the user and the member at the first login, with the groups of the ${where}`, async () => {
      const { provider, here } = await start({ in: where });
      provider.accounts.set('ada', {
        name: 'Ada Lovelace',
        email: 'ada@example.com',
        groups: ['everybody', 'eng', 'other'],
      });
      const browser = new Browser();
      const done = await browser.visit(await throughProvider(here, browser, 'ada'));
      expect([done.status, done.headers.get('location')]).toEqual([303, `${here.server.url}/account`]);
      const { status, body } = await current(here, browser);
      expect(status).toBe(200);
      expect(body).toMatchObject({
        session: { method: 'oidc' },
        user: { name: 'Ada Lovelace', email: 'ada@example.com' },
        organizations: [{ id: here.organization, role: 'member' }],
        projects: [{ ref: here.projectRef, role: 'member', environments: [{ name: 'dev' }, {}, {}, {}] }],
      });
      const acts = await here.sql`select act, actor_kind, actor_id, new from audit_log order by id`;
      expect(acts).toEqual([
        {
          act: 'member.added',
          actor_kind: 'provider',
          actor_id: provider.settings.issuer,
          new: { role: 'member' },
        },
        {
          act: 'browserSession.created',
          actor_kind: 'user',
          actor_id: body.user.id as string,
          new: { method: 'oidc' },
        },
      ]);
      // Again, elsewhere, with other groups: the same user.
      provider.accounts.set('ada', { groups: ['millrace-admins', 'eng'] });
      const again = await logInAs(here, 'ada');
      expect((await current(here, again)).body).toMatchObject({
        user: { id: body.user.id as string },
        organizations: [{ role: 'admin' }],
      });
    });

  test('is for issuer and subject, and never for an e-mail address that another user has', async () => {
    const { provider, here } = await start();
    await here.sql`update users set email = 'owner@example.com'`;
    for (const [account, email] of [
      ['mallory', 'Owner@example.com'],
      ['eve', 'new@example.com'],
    ] as const)
      provider.accounts.set(account, { email, email_verified: account === 'mallory', groups: ['eng'] });
    const owner = (await here.ask('GET /api/v2/whoami')).body.userId as string;
    for (const account of ['mallory', 'eve']) {
      const { body } = await current(here, await logInAs(here, account));
      expect(body.user.id).not.toBe(owner);
      // The address of another user, or one that the provider has not verified, is not shown as theirs.
      expect(body.user.email).toBeUndefined();
      expect(body.organizations).toMatchObject([{ role: 'member' }]);
    }
  });

  test('keeps an owner an owner, and reveals no secrets', async () => {
    const { provider, here } = await start();
    provider.accounts.set('ada', { groups: ['eng'] });
    const browser = await logInAs(here, 'ada');
    const { user } = (await current(here, browser)).body;
    await here.ask(`PATCH /api/v1/orgs/${here.organization}/members/${user.id}`, { body: { role: 'owner' } });
    await logInAs(here, 'ada');
    expect((await current(here, browser)).body.organizations).toMatchObject([{ role: 'owner' }]);
    const [row] = await here.sql<{ all: string }[]>`
      select (select json_agg(i)::text from oidc_identities i) || (select json_agg(a)::text from audit_log a) as all`;
    const output = `${row?.all} ${here.logged.join('\n')}`;
    expect(output).not.toContain(provider.settings.clientSecret);
    for (const token of provider.issued) expect(output).not.toContain(token);
    expect(provider.issued.length).toBeGreaterThan(3);
  });

  test('never redirects to another site', async () => {
    const { provider, here } = await start();
    provider.accounts.set('ada', { groups: ['eng'] });
    for (const path of [
      '//evil.example',
      '/\\evil.example',
      'https://evil.example',
      '@evil.example',
      '/a\tb',
      '/a#b',
    ]) {
      const browser = new Browser();
      const done = await browser.visit(
        await throughProvider(here, browser, 'ada', undefined, `?return=${encodeURIComponent(path)}`),
      );
      expect(done.headers.get('location'), path).toBe(`${here.server.url}/`);
    }
  });

  test('below a path and behind TLS, its cookie is for that path and TLS alone', async () => {
    const { here } = await start();
    const begun = await fetch(`${here.server.url}/login/oidc`, {
      redirect: 'manual',
      headers: {
        'x-forwarded-proto': 'https',
        'x-forwarded-host': 'jobs.example.com',
        'x-forwarded-prefix': '/millrace',
      },
    });
    expect(begun.headers.getSetCookie()[0]).toMatch(
      /^__Secure-millrace_oidc=[\w-]+; Path=\/millrace\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
    );
    const url = new URL(begun.headers.get('location') ?? '');
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      redirect_uri: 'https://jobs.example.com/millrace/login/oidc/callback',
      code_challenge_method: 'S256',
      response_type: 'code',
      scope: expect.stringContaining('openid') as string,
    });
  });
});

describe('a login with an identity provider is rejected', () => {
  test('with another state, nonce or verifier, for a used code, and without the cookie', async () => {
    const { provider, here } = await start();
    provider.accounts.set('ada', { groups: ['eng'] });
    const notMine = [400, expect.stringContaining('does not belong to the login that this browser started')];
    const gone = [400, expect.stringContaining('was already finished')];
    const used = [400, expect.stringContaining('has already been used, or took too long')];

    const browser = new Browser();
    const callback = await throughProvider(here, browser, 'ada');
    const cookies = new Map(browser.cookies(here.server.url));
    // Another page leads the browser to its own callback.
    const forged = callback.replace(/state=[^&]+/, 'state=x');
    expect(await textOf(await browser.visit(forged))).toEqual(notMine);
    // The cookie is removed with it.
    expect(await textOf(await browser.visit(callback))).toEqual(gone);
    expect(await textOf(await new Browser().visit(callback))).toEqual(gone);

    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const withCookie = (url: string, sent = cookie) =>
      fetch(url, { redirect: 'manual', headers: { cookie: sent } });
    expect((await withCookie(callback)).status).toBe(303);
    // The same browser keeps its cookie and repeats the code.
    expect(await textOf(await withCookie(callback))).toEqual(used);
    expect(await textOf(await withCookie(callback, cookie.slice(0, -8)))).toEqual(gone);
    expect(await textOf(await withCookie(callback, cookie.replace(/=.*/, '=AAAA')))).toEqual(gone);

    const changed = async (name: string, value: string) => {
      const another = new Browser();
      return textOf(
        await another.visit(
          await throughProvider(here, another, 'ada', (url) => url.searchParams.set(name, value)),
        ),
      );
    };
    expect(await changed('nonce', 'x')).toEqual(notMine);
    expect(await changed('code_challenge', 'x'.repeat(43))).toEqual(used);
    // Only the one valid callback logged a user in.
    expect(await here.sql`select from browser_sessions`).toHaveLength(1);
    expect(here.logged.join('')).not.toContain('"level":50');
  });

  test('when it took more than ten minutes', async () => {
    const { provider, here } = await start();
    provider.accounts.set('ada', { groups: ['eng'] });
    const browser = new Browser();
    const callback = await throughProvider(here, browser, 'ada');
    here.server.shiftTime(10 * 60_000);
    expect(await textOf(await browser.visit(callback))).toEqual([
      400,
      expect.stringContaining('took longer than ten minutes'),
    ]);
  });

  test('without a group that has a role', async () => {
    const { provider, here } = await start();
    for (const [account, groups] of Object.entries({ eve: ['other'], bob: [], mallory: 'eng-not' }))
      provider.accounts.set(account, { groups });
    for (const account of provider.accounts.keys()) {
      const browser = new Browser();
      const answer = await browser.visit(await throughProvider(here, browser, account));
      expect(await textOf(answer)).toEqual([
        403,
        expect.stringContaining('None of your groups has a role here'),
      ]);
      expect((await current(here, browser)).status).toBe(401);
    }
    expect(await here.sql`select from users`).toHaveLength(1);
  });

  test('by the provider, with its error code, and none of its texts', async () => {
    const { here } = await start();
    const browser = new Browser();
    const begun = await browser.visit(`${here.server.url}/login/oidc`);
    const url = new URL(begun.headers.get('location') ?? '');
    const answer = await browser.visit(
      `${here.server.url}/login/oidc/callback?error=access_denied&error_description=%3Cscript%3E&state=${url.searchParams.get('state')}&iss=${encodeURIComponent(url.origin)}`,
    );
    const [status, text] = await textOf(answer);
    expect([status, text]).toEqual([403, 'The identity provider refused the login (access_denied).']);
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
  });

  test('while the provider is down, and is possible again as soon as it is up', async () => {
    const { provider, here } = await start();
    provider.accounts.set('ada', { groups: ['eng'] });
    const down = [503, expect.stringContaining('cannot be reached at the moment')];
    provider.setDown(true);
    expect(await textOf(await new Browser().visit(`${here.server.url}/login/oidc`))).toEqual(down);
    provider.setDown(false);
    const browser = new Browser();
    const callback = await throughProvider(here, browser, 'ada');
    provider.setDown(true);
    expect(await textOf(await browser.visit(callback))).toEqual(down);
    provider.setDown(false);
    expect((await current(here, await logInAs(here, 'ada'))).status).toBe(200);
  });

  test('when the clocks differ by more than half a minute, but not for smaller differences', async () => {
    for (const [seconds, expected] of [
      [20, [303, '']],
      [60, [502, expect.stringContaining('differ by more than 30 seconds')]],
    ] as const) {
      const { provider, here } = await start();
      provider.accounts.set('ada', { groups: ['eng'], nbf: Math.floor(Date.now() / 1_000) + seconds });
      const browser = new Browser();
      expect(await textOf(await browser.visit(await throughProvider(here, browser, 'ada')))).toEqual(
        expected,
      );
    }
  });

  test('when the server is misconfigured, with a sentence for the administrator', async () => {
    for (const [options, settings, sentence] of [
      [{}, { clientSecret: 'wrong' }, 'compare the issuer, client id and client secret'],
      [
        {},
        { organization: 'org_none' },
        'The organization that MILLRACE_OIDC_ORGANIZATION names does not exist',
      ],
      [{ gives: 'none' }, {}, 'must allow refresh tokens'],
    ] as const) {
      const { provider, here } = await start(options, settings);
      provider.accounts.set('ada', { groups: ['eng'] });
      const browser = new Browser();
      const [status, text] = await textOf(await browser.visit(await throughProvider(here, browser, 'ada')));
      expect([status, text]).toEqual([
        expect.toSatisfy((code) => code === 502 || code === 503),
        expect.stringContaining(sentence),
      ]);
      expect(await here.sql`select from users`).toHaveLength(1);
    }
  });

  test('more often than an address may log in', async () => {
    const { here } = await start({}, {}, { browsers: { logins: { burst: 2, perSecond: 0.001 } } });
    const statuses = [];
    for (let i = 0; i < 3; i++)
      statuses.push((await new Browser().visit(`${here.server.url}/login/oidc`)).status);
    expect(statuses).toEqual([303, 303, 429]);
  });
});
