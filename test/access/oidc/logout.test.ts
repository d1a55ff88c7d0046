import { expect, test } from 'vitest';
import { ask, current, logInAs, start } from './world.ts';

test('a user who logs out at the provider is logged out here, and keeps the tokens', async () => {
  const { provider, here } = await start();
  for (const account of ['ada', 'bob']) provider.accounts.set(account, { groups: ['eng'] });
  const [ada, other, bob] = [
    await logInAs(here, 'ada'),
    await logInAs(here, 'ada'),
    await logInAs(here, 'bob'),
  ];
  const { token } = (await ask(here, ada, 'POST /api/v1/tokens', { name: 'laptop' })).body;
  await ada.leave(provider.settings.issuer);
  await expect.poll(async () => (await current(here, ada)).status).toBe(401);
  expect((await current(here, other)).status).toBe(401);
  expect((await current(here, bob)).status).toBe(200);
  expect((await here.ask('GET /api/v2/whoami', { key: token })).status).toBe(200);
  const acts = await here.sql`select act from audit_log where act = 'browserSession.revoked'`;
  expect(acts).toHaveLength(2);
});

test('only the provider can log a user out', async () => {
  const { provider, here } = await start();
  provider.accounts.set('ada', { groups: ['eng'] });
  const ada = await logInAs(here, 'ada');
  const idToken = provider.issued.find((text) => text.split('.').length === 3) ?? '';
  const [header, payload] = idToken.split('.');
  for (const body of [
    '',
    'logout_token=',
    'logout_token=x',
    // An id token is signed by the provider as well.
    `logout_token=${idToken}`,
    `logout_token=${header}.${payload}.AAAA`,
    `logout_token=${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`,
    `logout_token=${'x'.repeat(20_000)}`,
  ]) {
    const answer = await fetch(`${here.server.url}/login/oidc/logout`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body,
    });
    expect([body.slice(0, 40), answer.status]).toEqual([body.slice(0, 40), body.length > 20_000 ? 413 : 400]);
  }
  expect((await current(here, ada)).status).toBe(200);
  expect(here.logged.join('')).not.toContain('"level":50');
});
