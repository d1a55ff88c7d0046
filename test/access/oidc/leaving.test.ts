import { describe, expect, test } from 'vitest';
import type { Installation } from '../installation.ts';
import { environmentHeaders, fromPage } from '../browser/tab.ts';
import { testProvider } from './provider.ts';
import { ask, Browser, current, logInAs, start } from './world.ts';

/** Makes the last reply of the provider older, as if time had passed. */
const age = ({ sql }: Installation, seconds: number) =>
  sql`update oidc_identities set confirmed_at = now() - make_interval(secs => ${seconds})`;

/** Longer than an identified caller is cached. */
const uncached = () => new Promise((resolve) => setTimeout(resolve, 1_050));

/** A user who is logged in in a browser and has a personal access token. */
async function ada(options: Parameters<typeof start>[0] = {}) {
  const { provider, here } = await start(options);
  provider.accounts.set('ada', { name: 'Ada', groups: ['eng'] });
  const browser = await logInAs(here, 'ada');
  const created = await ask(here, browser, 'POST /api/v1/tokens', { name: 'laptop' });
  const token = created.body.token as string;
  const withToken = () => here.ask('GET /api/v2/whoami', { key: token });
  const both = async () => [(await current(here, browser)).status, (await withToken()).status];
  expect(await both()).toEqual([200, 200]);
  const devOf = async () =>
    await here.sql`
    select e.id, e.archived_at is null as live from environments e join users u on u.id = e.member_id where u.name = 'Ada' order by e.id`;
  return { provider, here, browser, token, both, devOf };
}

const statusOfMember = async ({ sql }: Installation) =>
  (
    await sql<
      { role: string }[]
    >`select m.role from memberships m join users u on u.id = m.user_id where u.name = 'Ada'`
  )[0]?.role ?? 'none';

describe('a user of an identity provider', () => {
  test('who is removed there has no session, token or membership here after 45 seconds', async () => {
    const { provider, here, both, token, devOf } = await ada();
    const delegated = await here.ask(`POST /api/v1/projects/${here.projectRef}/prod/jwt`, {
      key: token,
      body: { claims: { scopes: ['read:runs'] } },
    });
    const runs = () => here.ask('GET /api/v1/runs', { key: delegated.body.token as string });
    expect((await runs()).status).toBe(200);
    const [dev] = await devOf();
    provider.accounts.delete('ada');
    await age(here, 46);
    await uncached();
    expect(await Promise.all([both(), runs().then(({ status }) => status)])).toEqual([[401, 401], 401]);
    expect(await statusOfMember(here)).toBe('none');
    expect(await devOf()).toEqual([{ ...dev, live: false }]);
    const [entry] = await here.sql`select act, actor_kind, old, new from audit_log order by id desc limit 1`;
    expect(entry).toEqual({
      act: 'member.removed',
      actor_kind: 'provider',
      old: { role: 'member', name: 'Ada' },
      new: { why: 'refused', sessions: 1, tokens: 1 },
    });
    // The token has ended permanently, and other uses of it fail as well.
    const byToken = await here.ask('POST /api/v1/browser-sessions', {
      key: '',
      headers: fromPage,
      body: { accessToken: token },
    });
    expect(byToken.status).toBe(401);

    // A user who returns has their earlier data, but no old credential.
    provider.accounts.set('ada', { groups: ['everybody'] });
    const again = await logInAs(here, 'ada');
    expect((await current(here, again)).body.organizations).toMatchObject([{ role: 'viewer' }]);
    expect(await devOf()).toEqual([dev]);
    expect(await both()).toEqual([401, 401]);
  });

  test('who loses all groups with a role has no access, and with other groups another role', async () => {
    const { provider, here, both, browser } = await ada();
    for (const [groups, role] of [
      [['millrace-admins'], 'admin'],
      [['everybody', 'x'], 'viewer'],
      [['eng'], 'member'],
    ] as const) {
      provider.accounts.set('ada', { groups });
      await age(here, 46);
      await uncached();
      expect(await both()).toEqual([200, 200]);
      expect((await current(here, browser)).body.organizations).toMatchObject([{ role }]);
    }
    provider.accounts.set('ada', { groups: ['x'] });
    await age(here, 46);
    await uncached();
    expect(await both()).toEqual([401, 401]);
    expect(await statusOfMember(here)).toBe('none');
  });

  test('is checked by the job while only a stream is open, which ends', async () => {
    const { provider, here, browser } = await ada();
    const { keys, projectRef, server } = here;
    const run = await here.ask('POST /api/v1/tasks/mail/trigger', { key: keys.prod, body: {} });
    const stream = await browser.visit(`${server.url}/realtime/v1/runs/${run.body.id}/events`, {
      headers: { ...fromPage, ...environmentHeaders(projectRef, 'prod') },
    });
    expect(stream.status).toBe(200);
    const ended = (async () => {
      for await (const _ of stream.body as unknown as AsyncIterable<Uint8Array>);
    })().catch(() => {});
    // As if nothing had been used for a long time.
    await here.sql`update browser_sessions set last_used_at = now() - interval '1 hour'`;
    await here.sql`update personal_access_tokens set last_used_at = now() - interval '1 hour'`;
    provider.accounts.delete('ada');
    await age(here, 31);
    server.wakeJobs(['identity keeper']);
    await ended;
    expect(await statusOfMember(here)).toBe('none');
  });

  test('who is the only owner remains one, without a way to log in', async () => {
    const { provider, here, both } = await ada();
    await here.sql`update memberships set role = case when user_id = (select id from users where name = 'Ada') then 'owner' else 'admin' end`;
    provider.accounts.delete('ada');
    await age(here, 46);
    await uncached();
    expect(await both()).toEqual([401, 401]);
    expect(await statusOfMember(here)).toBe('owner');
    expect((await here.sql`select act from audit_log order by id desc limit 1`)[0]).toEqual({
      act: 'member.loggedOut',
    });
  });

  test('is checked at most every half minute, regardless of the number of requests and processes', async () => {
    const { provider, here, browser } = await ada();
    const other = await here.another();
    const cookie = [...browser.cookies(here.server.url)]
      .map(([name, value]) => `${name}=${value}`)
      .join('; ');
    const request = (url: string) =>
      fetch(`${url}/api/v1/browser-sessions/current`, {
        headers: { ...fromPage, cookie, 'x-forwarded-host': new URL(here.server.url).host },
      }).then(({ status }) => status);
    const many = () =>
      Promise.all(Array.from({ length: 20 }, (_, i) => request(i % 2 === 0 ? here.server.url : other.url)));
    expect(new Set(await many())).toEqual(new Set([200]));
    expect(provider.tokenRequests).toBe(1);
    // A refresh token is replaced with each use, and a second use would end the login.
    for (let round = 1; round <= 3; round++) {
      await age(here, 46);
      await uncached();
      expect(new Set(await many())).toEqual(new Set([200]));
      expect(provider.tokenRequests).toBe(1 + round);
    }
  });

  test('has access for an hour while the provider is down, and again when it is up', async () => {
    const { provider, here, both } = await ada();
    provider.setDown(true);
    for (const [minutes, statuses] of [
      [1, [200, 200]],
      [59, [200, 200]],
      [61, [401, 401]],
    ] as const) {
      await age(here, minutes * 60);
      await uncached();
      expect(await both(), `${minutes} minutes`).toEqual(statuses);
    }
    provider.setDown(false);
    // The provider receives the next request a moment later.
    await expect.poll(both, { timeout: 20_000, interval: 1_000 }).toEqual([200, 200]);
    expect(here.logged.join('')).toContain('oidc.away');
    expect(here.logged.join('')).not.toContain('"level":50');
  });

  test('has none on a server without a provider, once the hour has passed', async () => {
    const { here, token } = await ada();
    const other = await here.another({ oidc: undefined });
    const status = () =>
      here.ask('GET /api/v2/whoami', { key: token, server: other }).then((answer) => answer.status);
    expect(await status()).toBe(200);
    await age(here, 61 * 60);
    await uncached();
    expect(await status()).toBe(401);
  });
});

test('a different provider receives neither a request nor a token of the earlier one', async () => {
  const { here, token } = await ada();
  const next = await testProvider();
  const other = await here.another({ oidc: next.settings });
  next.allow(other.url);
  const status = () =>
    here.ask('GET /api/v2/whoami', { key: token, server: other }).then((answer) => answer.status);
  for (const [minutes, expected] of [
    [1, 200],
    [61, 401],
  ] as const) {
    await age(here, minutes * 60);
    await uncached();
    expect(await status()).toBe(expected);
  }
  expect(next.tokenRequests).toBe(0);
});

test('no other user is checked', async () => {
  const { provider, here } = await start();
  provider.setDown(true);
  expect((await here.ask('GET /api/v2/whoami')).status).toBe(200);
  expect((await current(here, new Browser())).status).toBe(401);
  expect(provider.tokenRequests).toBe(0);
});
