import { describe, expect, test } from 'vitest';
import { defaultRateLimits } from '../../packages/server/src/http/rate-limit.ts';
import { logIn, type Tab } from './browser/tab.ts';
import { installation, sharedInstallation, type SharedInstallation } from './installation.ts';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const days = (date: string | null): number => Math.round((Date.parse(date ?? '') - Date.now()) / 86_400_000);

interface Codes {
  readonly authorizationCode: string;
  readonly userCode: string;
}

/** A machine that requests access. */
const machine = ({ ask }: SharedInstallation) => ({
  async asks(body?: object, headers: Readonly<Record<string, string>> = {}): Promise<Codes> {
    const { status, body: codes } = await ask('POST /api/v1/authorization-code', { key: '', body, headers });
    expect(status).toBe(200);
    return codes as Codes;
  },
  fetches: ({ authorizationCode }: Codes) =>
    ask('POST /api/v1/token', { key: '', body: { authorizationCode } }),
});

const approve = ({ ask }: SharedInstallation, userCode: string, more: object = {}, key?: string) =>
  ask('POST /api/v1/authorization-code/approve', {
    body: { userCode, ...more },
    ...(key !== undefined && { key }),
  });

describe('a login by approval', () => {
  test('gives the requesting machine one token of the approving user, once', async () => {
    const here = await installation();
    const { ask, organization, sql, logged, server } = here;
    const { fetches } = machine(here);
    const started = await ask('POST /api/v1/authorization-code', { key: '' });
    expect(started).toMatchObject({
      status: 200,
      body: {
        authorizationCode: expect.stringMatching(/^svc_code_[\w-]{43}$/) as string,
        userCode: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/) as string,
        url: `${server.url}/api/v1/authorization-code/approve`,
        interval: 1,
      },
    });
    const inMinutes = (new Date(started.body.expiresAt as string).getTime() - Date.now()) / 60_000;
    expect(inMinutes).toBeGreaterThan(8);
    expect(inMinutes).toBeLessThan(12);
    const codes = started.body as Codes;
    expect(await fetches(codes)).toMatchObject({
      status: 200,
      body: { token: null, state: 'authorization_pending', interval: 1 },
    });

    // As a person types it.
    const typed = codes.userCode.toLowerCase().replace('-', ' ');
    const approved = await approve(here, typed, { name: ' laptop ' });
    expect(approved).toMatchObject({ status: 200, body: { name: 'laptop' } });
    expect(days(approved.body.tokenExpiresAt as string)).toBe(90);
    expect((await approve(here, codes.userCode)).status).toBe(422);
    await pause(1_000);
    const both = await Promise.all([fetches(codes), fetches(codes)]);
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    const [createdToken, ...more] = both.flatMap(({ body }) => (body.token === null ? [] : [body.token])) as {
      token: string;
      obfuscatedToken: string;
    }[];
    expect(more).toEqual([]);
    const { token = '', obfuscatedToken } = createdToken ?? {};
    expect(obfuscatedToken).toBe(`svc_pat_…${token.slice(-4)}`);
    expect((await fetches(codes)).body).toEqual({ token: null, state: 'used' });
    expect((await approve(here, codes.userCode)).status).toBe(422);

    const me = await ask('GET /api/v2/whoami', { key: token });
    expect(me).toMatchObject({
      status: 200,
      body: { userId: expect.stringMatching(/^user_/) as string, name: 'Owner' },
    });
    const { data } = (await ask('GET /api/v1/tokens')).body as {
      data: { name: string; id: string; expiresAt: string }[];
    };
    const listed = data.find(({ name }) => name === 'laptop');
    expect(days(listed?.expiresAt ?? null)).toBe(90);
    const { body: audit } = await ask(`GET /api/v1/orgs/${organization}/audit?filter[act]=token.created`);
    expect(audit.data).toMatchObject([
      { target: listed?.id, actor: { kind: 'user', id: me.body.userId }, new: { name: 'laptop' } },
    ]);
    const stored = JSON.stringify(await sql`select l::text from login_requests l`);
    for (const secret of [token, codes.authorizationCode]) {
      expect(stored + JSON.stringify(audit) + logged.join('')).not.toContain(secret);
    }
  });

  test('first shows the approver the origin of the request, in harmless text', async () => {
    const here = await sharedInstallation();
    const { ask } = here;
    const { asks } = machine(here);
    const describeCode = (userCode: string, key?: string) =>
      ask('POST /api/v1/authorization-code/describe', {
        body: { userCode },
        ...(key !== undefined && { key }),
      });
    const codes = await asks(
      { hostName: 'build-7\u001b[2J\u202e' },
      { 'user-agent': 'millrace/1', 'x-forwarded-for': '203.0.113.9' },
    );
    const { status, body } = await describeCode(codes.userCode);
    expect([status, body]).toEqual([
      200,
      {
        userCode: codes.userCode,
        hostName: 'build-7\ufffd[2J\ufffd',
        userAgent: 'millrace/1',
        address: expect.stringMatching(/127\.0\.0\.1$/) as string,
        forwardedFor: '203.0.113.9',
        requestedAt: expect.any(String) as string,
        expiresAt: expect.any(String) as string,
      },
    ]);
    expect(Math.abs(Date.parse(body.requestedAt as string) - Date.now())).toBeLessThan(60_000);
    // The code of the machine is for the machine alone.
    expect((await describeCode(codes.authorizationCode)).status).toBe(404);
    expect((await approve(here, codes.authorizationCode)).status).toBe(404);
    expect((await describeCode(codes.userCode, '')).status).toBe(401);
    expect((await describeCode(codes.userCode, here.keys.prod)).status).toBe(401);
    expect((await approve(here, codes.userCode)).status).toBe(200);
    expect((await describeCode(codes.userCode)).status).toBe(422);
  });

  test('belongs to the approver: no other user, no key, and no longer than the approving token', async () => {
    const here = await sharedInstallation();
    const { ask, keys, userWith } = here;
    const { asks, fetches } = machine(here);
    const code = await asks();
    expect((await approve(here, code.userCode, {}, keys.prod)).status).toBe(401);
    expect((await approve(here, code.userCode, {}, '')).status).toBe(401);
    const viewer = await userWith('viewer');
    expect(await approve(here, code.userCode, {}, viewer.token)).toMatchObject({
      status: 200,
      body: { name: 'login' },
    });
    const { token } = (await fetches(code)).body.token as { token: string };
    expect((await ask('GET /api/v2/whoami', { key: token })).body.userId).toBe(viewer.id);

    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const ending = (await ask('POST /api/v1/tokens', { body: { name: 'ending', expiresAt } })).body;
    const [second, third, fourth] = [await asks(), await asks(), await asks()];
    expect((await approve(here, second.userCode, {}, ending.token)).body.tokenExpiresAt).toBe(expiresAt);
    expect((await approve(here, third.userCode, { expiresAt: null }, ending.token)).body.tokenExpiresAt).toBe(
      expiresAt,
    );
    const later = new Date(Date.now() + 7_200_000).toISOString();
    expect((await approve(here, fourth.userCode, { expiresAt: later }, ending.token)).status).toBe(422);
    expect((await fetches(second)).body.token).not.toBeNull();
    const { data } = (await ask('GET /api/v1/tokens')).body as {
      data: { name: string; expiresAt?: string }[];
    };
    expect(data.filter(({ name }) => name === 'login')).toMatchObject([{ expiresAt }]);
    // A token that ended before its approval was used lets no machine in.
    await ask(`POST /api/v1/tokens/${ending.id}/revoke`);
    expect((await fetches(third)).status).toBe(404);
  });

  test('gives a token that expires when its approver chooses, or never', async () => {
    const here = await sharedInstallation();
    const { asks } = machine(here);
    const [never, soon, past] = [await asks(), await asks(), await asks()];
    expect((await approve(here, never.userCode, { expiresAt: null })).body.tokenExpiresAt).toBeNull();
    const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
    expect((await approve(here, soon.userCode, { expiresAt })).body.tokenExpiresAt).toBe(expiresAt);
    const before = new Date(Date.now() - 1_000).toISOString();
    expect((await approve(here, past.userCode, { expiresAt: before })).status).toBe(422);
  });

  test('limits a machine that requests its token too often', async () => {
    const here = await installation();
    const { asks, fetches } = machine(here);
    const codes = await asks();
    await fetches(codes);
    expect((await fetches(codes)).body).toEqual({ token: null, state: 'slow_down', interval: 6 });
    await approve(here, codes.userCode);
    // A machine that does not wait gets nothing, approved or not.
    expect((await fetches(codes)).body).toEqual({ token: null, state: 'slow_down', interval: 11 });
    await here.sql`update login_requests set polled_at = polled_at - interval '11 seconds'`;
    expect((await fetches(codes)).body.token).not.toBeNull();
  });

  test('rejects a code that the server did not create, or that has expired', async () => {
    const here = await installation();
    const { ask, sql } = here;
    const { asks, fetches } = machine(here);
    const codes = await asks();
    const forged = `${codes.authorizationCode.slice(0, -1)}${codes.authorizationCode.endsWith('A') ? 'B' : 'A'}`;
    for (const authorizationCode of [forged, 'svc_code_x', 'x', codes.userCode]) {
      expect((await fetches({ ...codes, authorizationCode })).status).toBe(404);
    }
    for (const userCode of ['BBBB-BBBB', 'AEIO-UAEI', 'x', ' ']) {
      expect((await approve(here, userCode)).status).toBe(404);
    }
    const long = { authorizationCode: 'x'.repeat(129) };
    expect((await ask('POST /api/v1/token', { key: '', body: long })).status).toBe(400);
    // Expired rows are deleted with the next machine that requests access.
    await sql`update login_requests set expires_at = now() - interval '1 second'`;
    expect((await approve(here, codes.userCode)).status).toBe(404);
    expect((await fetches(codes)).status).toBe(404);
    await asks();
    expect(await sql`select from login_requests`).toHaveLength(1);
  });

  test('can be approved in a browser by its session, and lasts only as long as the session', async () => {
    const here = await installation();
    const { userWith, sql } = here;
    const member = await userWith('member');
    const approveIn = async (tab: Tab, userCode: string) => {
      expect((await tab.ask('POST /api/v1/authorization-code/describe', { body: { userCode } })).status).toBe(
        200,
      );
      return (await tab.ask('POST /api/v1/authorization-code/approve', { body: { userCode } })).status;
    };
    // A session that was opened with a token approves with that token.
    const byToken = await logIn(here, { accessToken: member.token });
    const first = machine(here);
    const code = await first.asks();
    expect(await approveIn(byToken, code.userCode)).toBe(200);
    expect(await sql`select token_id is null as without, session_id from login_requests`).toEqual([
      { without: false, session_id: null },
    ]);

    const password = 'correct horse battery';
    await here.ask('PUT /api/v1/password', { body: { password, email: 'owner@example.com' } });
    const own = await logIn(here, { email: 'owner@example.com', password });
    const second = machine(here);
    const started = await second.asks();
    expect(await approveIn(own, started.userCode)).toBe(200);
    const { token } = (await second.fetches(started)).body;
    const me = await here.ask('GET /api/v2/whoami', { key: token.token });
    expect(me.body.userId).toBe((await here.ask('GET /api/v2/whoami')).body.userId);
    const [entry] = await sql`select act, credential_id as by from audit_log where act = 'token.created'`;
    expect(entry).toEqual({ act: 'token.created', by: own.id });

    // An approval from a browser that has logged out since lets no machine in.
    const third = machine(here);
    const late = await third.asks();
    expect(await approveIn(own, late.userCode)).toBe(200);
    await own.ask('DELETE /api/v1/browser-sessions/current');
    expect((await third.fetches(late)).status).toBe(404);
  });

  test('prevents trying many codes and filling the table', async () => {
    const { logins } = defaultRateLimits;
    const here = await installation({
      rateLimits: { logins: { ...logins, requests: { burst: 3, perSecond: 0.001 } } },
    });
    const { ask, sql, userWith } = here;
    const { asks } = machine(here);
    const codes = await asks();
    const tries = [];
    for (let n = 0; n < 25; n++) tries.push((await approve(here, 'BBBB-BBBB')).status);
    expect([tries.slice(0, 20), tries.slice(20)]).toEqual([Array(20).fill(404), Array(5).fill(429)]);
    // Nor does the right one; another user may.
    expect((await approve(here, codes.userCode)).status).toBe(429);
    const other = await userWith('member');
    expect((await approve(here, codes.userCode, {}, other.token)).status).toBe(200);
    await asks();
    await asks();
    expect((await ask('POST /api/v1/authorization-code', { key: '' })).status).toBe(429);

    const unlimited = await installation();
    await unlimited.sql`
      insert into login_requests (device_digest, user_code, address, requested_at, expires_at, interval_seconds)
      select sha256(n::text::bytea), n::text, 'x', now(), now() + interval '1 hour', 1 from generate_series(1, 10000) n`;
    expect((await unlimited.ask('POST /api/v1/authorization-code', { key: '' })).status).toBe(429);
    expect((await sql`select count(*)::int as count from login_requests`)[0]).toEqual({ count: 3 });
  });
});
