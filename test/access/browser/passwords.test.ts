import { describe, expect, test } from 'vitest';
import { defaultRateLimits } from '../../../packages/server/src/http/rate-limit.ts';
import { installation, type Installation } from '../installation.ts';
import { fromPage, logIn } from './tab.ts';

const password = 'correct horse battery';

const set = ({ ask }: Installation, body: object, key?: string) =>
  ask('PUT /api/v1/password', { body, ...(key !== undefined && { key }) });

const tries = ({ ask }: Installation, email: string, tried: string, headers: Record<string, string> = {}) =>
  ask('POST /api/v1/browser-sessions', {
    key: '',
    body: { email, password: tried },
    headers: { ...fromPage, ...headers },
  });

// Hashing is slow on purpose.
describe('a password', { timeout: 60_000 }, () => {
  test('logs its user in, in any spelling of their address, and is stored only as a hash', async () => {
    const here = await installation();
    const { sql, logged, organization, ask, userWith } = here;
    const { id, token } = await userWith('member');
    expect((await set(here, { password }, token)).body).toEqual({
      email: 'member@example.com',
      hasPassword: true,
    });
    const tab = await logIn(here, { email: 'Member@Example.COM', password });
    expect((await tab.ask('GET /api/v1/browser-sessions/current')).body).toMatchObject({
      user: { id },
      session: { method: 'password' },
    });
    const [row] = await sql<{ hash: string }[]>`select hash from passwords`;
    expect(row?.hash).toMatch(/^\$scrypt\$ln=15,r=8,p=3\$[\w+/]{22}\$[\w+/]{43}$/);
    const { body: audit } = await ask(`GET /api/v1/orgs/${organization}/audit`);
    expect(audit.data).toMatchObject([
      {
        act: 'browserSession.created',
        target: tab.id,
        actor: { id, credentialId: tab.id },
        new: { method: 'password' },
      },
      { act: 'password.set', target: id },
      { act: 'member.added' },
      { act: 'invitation.created' },
    ]);
    expect(logged.join('') + JSON.stringify(audit)).not.toContain(password);
  });

  test('is rejected with the same message and the same delay for every user', async () => {
    const here = await installation();
    const { userWith, logged } = here;
    const { token } = await userWith('member');
    await userWith('viewer');
    await set(here, { password }, token);
    const timed = async (email: string, tried: string) => {
      const from = performance.now();
      const { status, body } = await tries(here, email, tried);
      return [performance.now() - from, status, body.error] as const;
    };
    await timed('member@example.com', 'x');
    const answers = [
      await timed('member@example.com', `${password}.`),
      // A user without a password, and an unknown user.
      await timed('viewer@example.com', password),
      await timed('nobody@example.com', password),
    ];
    for (const [, status, error] of answers)
      expect([status, error]).toEqual([401, 'Wrong e-mail address or password']);
    const [wrong = 0, ...none] = answers.map(([ms]) => ms);
    for (const ms of none) expect(ms).toBeGreaterThan(wrong / 3);
    expect(logged.filter((line) => line.includes('browser.refused'))).toHaveLength(4);
  });

  test('cannot be guessed: few attempts for a user from one address, more from all, and keys keep working', async () => {
    const browsers = {
      ...defaultRateLimits.browsers,
      userPasswords: { burst: 12, perSecond: 0.01 },
      addressPasswords: { burst: 7, perSecond: 0.01 },
    };
    const here = await installation({
      rateLimits: { ...defaultRateLimits, browsers },
      trustedProxies: ['127.0.0.0/8', '::1'],
    });
    const { userWith, keys, ask } = here;
    const { token } = await userWith('member');
    await set(here, { password }, token);
    const from = (address: string, tried = 'wrong', email = 'member@example.com') =>
      tries(here, email, tried, { 'x-forwarded-for': address }).then(({ status }) => status);
    const many = await Promise.all(Array.from({ length: 8 }, () => from('203.0.113.1')));
    expect(many.filter((status) => status === 401)).toHaveLength(5);
    expect(many.filter((status) => status === 429)).toHaveLength(3);
    // Also with the right one: otherwise the reply would reveal that it is right.
    expect(await from('203.0.113.1', password)).toBe(429);
    // In another spelling, and from the same IPv6 network, it is the same attempt.
    expect(await from('203.0.113.1', password, 'MEMBER@example.com')).toBe(429);
    for (let host = 1; host <= 5; host++) await from(`2001:db8::${host}`);
    expect(await from('2001:db8::ffff', password)).toBe(429);
    // The user logs in from another address, and other users from the same one.
    expect(await from('198.51.100.7', password)).toBe(200);
    expect(await from('203.0.113.1', 'wrong', 'nobody@example.com')).toBe(401);
    expect((await ask('GET /api/v1/whoami', { key: keys.prod })).status).toBe(200);
    // One address has few attempts for all users, and one user for all addresses; other ways to log in stay open.
    const stuffed: number[] = [];
    for (let user = 1; user <= 8; user++)
      stuffed.push(await from('203.0.113.9', 'x', `user${user}@example.com`));
    expect(stuffed).toEqual([...Array.from({ length: 7 }, () => 401), 429]);
    expect([await from('192.0.2.1'), await from('192.0.2.2'), await from('192.0.2.3', password)]).toEqual([
      401, 429, 429,
    ]);
    await logIn(here, { accessToken: token });
  });

  test('too many attempts at once receive a retry delay instead of exhausting the memory', async () => {
    // By default, admission lets fewer of them through at once.
    const here = await installation({ admissionLimits: { capacity: 1_000, share: 1_000 } });
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => tries(here, `user${index}@example.com`, 'x')),
    );
    const statuses = answers.map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
    expect((await tries(here, 'nobody@example.com', 'x')).status).toBe(401);
  });

  test('a new one ends all browser sessions of its user, and null removes it', async () => {
    const here = await installation();
    const { userWith } = here;
    const { token } = await userWith('member');
    const email = 'member@example.com';
    await set(here, { password }, token);
    const [first, second] = [
      await logIn(here, { email, password }),
      await logIn(here, { accessToken: token }),
    ];
    const other = await logIn(here);
    await set(here, { password: 'another long password' }, token);
    const statusOf = async (tab: typeof first) =>
      (await tab.ask('GET /api/v1/browser-sessions/current')).status;
    expect([await statusOf(first), await statusOf(second), await statusOf(other)]).toEqual([401, 401, 200]);
    expect((await tries(here, email, password)).status).toBe(401);
    expect((await set(here, { password: null }, token)).body).toEqual({ email, hasPassword: false });
    expect((await tries(here, email, 'another long password')).status).toBe(401);
  });

  test('is set by a personal access token only, and the error names the requirements', async () => {
    const here = await installation();
    const { userWith, keys, ask } = here;
    await userWith('member');
    const tab = await logIn(here);
    expect((await tab.ask('PUT /api/v1/password', { body: { password } })).status).toBe(403);
    expect((await set(here, { password }, keys.prod)).status).toBe(401);
    for (const [body, status, sentence] of [
      [{ password: 'too short' }, 400, 'at least 12 characters'],
      [{ password: 'x'.repeat(129) }, 400, 'at most 128 characters'],
      [{}, 400, 'password'],
      [{ password, email: 'nothing' }, 400, 'email'],
      // The first user has none.
      [{ password }, 422, 'no e-mail address'],
      [{ password, email: 'MEMBER@example.com' }, 422, 'another user has this address'],
    ] as const) {
      const { status: got, body: reply } = await set(here, body);
      expect([body, got, reply.error]).toEqual([body, status, expect.stringContaining(sentence)]);
    }
    expect((await set(here, { password, email: 'owner@example.com' })).status).toBe(200);
    expect((await set(here, { password, email: 'other@example.com' })).body.error).toContain(
      'owner@example.com',
    );
    expect((await ask('GET /api/v2/whoami')).body.email).toBe('owner@example.com');
    await logIn(here, { email: 'owner@example.com', password });
  });
});
