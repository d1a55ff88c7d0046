import { describe, expect, test } from 'vitest';
import { installation, sharedInstallation, type SharedInstallation } from '../installation.ts';
import { cookieIn, logIn } from './tab.ts';

/** Requests that a page of another site can make a browser send, with the cookie that `SameSite` would hold back. */
const forgeries = ({ url }: { url: string }): [who: string, headers: Record<string, string>][] => [
  [
    'a form',
    { 'content-type': 'text/plain', 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
  ],
  [
    'a form of a browser without Sec-Fetch-Site',
    { 'content-type': 'text/plain', origin: 'https://evil.example' },
  ],
  [
    'a form of a page without an origin',
    { 'content-type': 'application/x-www-form-urlencoded', origin: 'null' },
  ],
  ['a client without these headers', {}],
  [
    'a page on another port',
    { 'x-millrace-dashboard': '1', 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:1' },
  ],
  ['a page of another site', { 'x-millrace-dashboard': '1', 'sec-fetch-site': 'cross-site' }],
  ['an address that a user typed', { 'x-millrace-dashboard': '1', 'sec-fetch-site': 'none' }],
  ['an older browser on another site', { 'x-millrace-dashboard': '1', origin: 'https://evil.example' }],
  ['an older browser on a page without an origin', { 'x-millrace-dashboard': '1', origin: 'null' }],
  ['an older browser without other headers', { 'x-millrace-dashboard': '1' }],
  ['a host that starts like ours', { 'x-millrace-dashboard': '1', origin: `${url}.evil.example` }],
  ['another value of the header', { 'x-millrace-dashboard': 'true', 'sec-fetch-site': 'same-origin' }],
];

const sessions = async ({ sql, organization }: SharedInstallation): Promise<number> => {
  const [row] = await sql<{ n: number }[]>`
    select count(*)::int as n from browser_sessions
     where user_id in (select user_id from memberships where organization_id = ${organization})`;
  return row?.n ?? 0;
};

describe('a request that another page makes a browser send', () => {
  test('changes nothing in any form', async () => {
    const here = await sharedInstallation();
    const { cookie } = await logIn(here);
    const { ask, server } = here;
    for (const [who, forged] of forgeries(server)) {
      const send = (request: string, body?: object) =>
        ask(request, { key: '', headers: { cookie, ...forged }, body });
      const refused = [401, 403];
      expect([who, (await send('POST /api/v1/orgs', { name: 'Forged' })).status]).toEqual([
        who,
        expect.toBeOneOf(refused),
      ]);
      expect([who, (await send('DELETE /api/v1/browser-sessions/current')).status]).toEqual([
        who,
        expect.toBeOneOf(refused),
      ]);
      // Another page must not log its visitor in as another user either.
      const { status, headers } = await send('POST /api/v1/browser-sessions', { accessToken: here.token });
      expect([who, status, headers.getSetCookie()]).toEqual([who, 403, []]);
    }
    expect((await ask('GET /api/v1/orgs')).body).toHaveLength(1);
    expect(await sessions(here)).toBe(1);
  });

  test('reads nothing either', async () => {
    const here = await sharedInstallation();
    const { cookie } = await logIn(here);
    for (const [who, headers] of forgeries(here.server)) {
      const { status } = await here.ask('GET /api/v1/orgs', { key: '', headers: { cookie, ...headers } });
      // An older browser sends nothing else when its own page reads. Another page cannot send the header.
      const isLikeOwn = who === 'an older browser without other headers';
      expect([who, status]).toEqual([who, isLikeOwn ? 200 : expect.toBeOneOf([401, 403])]);
    }
  });

  test('is not allowed by any preflight to carry the header or the cookie', async () => {
    const { server } = await sharedInstallation();
    for (const path of [
      '/api/v1/runs',
      '/api/v1/orgs',
      '/api/v1/browser-sessions',
      '/api/v1/waitpoints/tokens',
    ]) {
      const { headers } = await fetch(`${server.url}${path}`, {
        method: 'OPTIONS',
        headers: {
          origin: 'https://evil.example',
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'x-millrace-dashboard',
        },
      });
      expect(headers.get('access-control-allow-headers') ?? '').not.toContain('x-millrace');
      expect(headers.get('access-control-allow-credentials')).toBeNull();
    }
  });

  test('a page of the same origin is accepted where the browser sends nothing else, also behind a proxy that ends TLS', async () => {
    const here = await installation();
    const { ask, server, token } = here;
    const { host } = new URL(server.url);
    const own = { 'x-millrace-dashboard': '1' };
    const proxied = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'jobs.example.com' };
    const logsIn = (headers: Record<string, string>) =>
      ask('POST /api/v1/browser-sessions', {
        key: '',
        body: { accessToken: token },
        headers: { ...own, ...headers },
      });
    expect((await logsIn({ origin: `http://${host}` })).status).toBe(200);
    expect((await logsIn({ origin: `https://${host}` })).status).toBe(200);
    const behind = await logsIn({ ...proxied, origin: 'https://jobs.example.com' });
    expect(behind.status).toBe(200);
    // Where the proxy reports that it ends TLS, a page without TLS has another origin.
    expect((await logsIn({ ...proxied, origin: 'http://jobs.example.com' })).status).toBe(403);
    expect((await logsIn({ ...proxied, origin: `http://${host}` })).status).toBe(403);
    const headers = { ...own, ...proxied, origin: 'https://jobs.example.com', cookie: cookieIn(behind) };
    expect((await ask('POST /api/v1/orgs', { key: '', headers, body: { name: 'Second' } })).status).toBe(200);
  });
});
