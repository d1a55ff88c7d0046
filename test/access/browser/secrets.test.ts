import { expect, test } from 'vitest';
import { sharedInstallation } from '../installation.ts';
import { logIn } from './tab.ts';

const secret = 'the-value-of-a-secret';

test('no reply to a browser has a stored secret: variables, keys, receivers, or another credential', async () => {
  const here = await sharedInstallation();
  const { ask, keys, projectRef, userWith } = here;
  const project = `/api/v1/projects/${projectRef}`;
  await ask(`POST ${project}/envvars/prod`, { body: { name: 'TOKEN', value: secret, isSecret: true } });
  await ask(`POST ${project}/envvars/prod`, {
    body: { name: 'TOKEN', value: `${secret}-2`, isSecret: true },
  });
  const endpoint = await ask(`POST ${project}/notifications/prod/endpoints`, {
    body: { url: 'https://example.com/', types: ['run.failed'] },
  });
  const tab = await logIn(here);
  const seen: string[] = [];
  for (const request of [
    `GET ${project}/envvars/prod`,
    `GET ${project}/envvars/prod/TOKEN`,
    `GET ${project}/envvar-revisions/prod`,
    `GET ${project}/envvar-revisions/prod/diff?from=1&to=2`,
    `GET ${project}/prod`,
    `GET ${project}/prod/keys`,
    'GET /api/v1/tokens',
    `GET ${project}/notifications/prod/endpoints`,
    `GET ${project}/notifications/prod/endpoints/${endpoint.body.id}`,
    'GET /api/v1/browser-sessions',
    'GET /api/v1/browser-sessions/current',
  ]) {
    const { status, body } = await tab.ask(request, { env: 'prod' });
    expect([request, status]).toEqual([request, 200]);
    seen.push(JSON.stringify(body));
  }
  const all = seen.join('\n');
  for (const text of [
    secret,
    ...Object.values(keys),
    endpoint.body.secret as string,
    here.token,
    tab.cookie.split('=')[1] ?? '',
  ]) {
    expect(text.length).toBeGreaterThan(10);
    expect(all).not.toContain(text);
  }
  // With a personal access token the same request shows the key, as before.
  expect((await ask(`GET ${project}/prod`)).body.apiKey).toBe(keys.prod);

  // Operations that return a credential or values are closed.
  const { body: link } = await ask('POST /api/v1/browser-links');
  for (const [request, body] of [
    [`GET ${project}/envvars`, undefined],
    ['POST /api/v1/auth/public-tokens', { scopes: ['read:runs'] }],
    ['POST /api/v1/auth/jwt', {}],
    ['POST /api/v1/auth/jwt/claims', {}],
    [`POST ${project}/prod/jwt`, {}],
    ['POST /api/v1/browser-links', {}],
    ['PUT /api/v1/password', { password: null }],
    ['POST /api/v1/deployments', {}],
    ['POST /runner/v1/versions', {}],
  ] as const) {
    const { status, body: reply } = await tab.ask(request, { env: 'prod', ...(body && { body }) });
    expect([request, status, reply.error]).toEqual([
      request,
      403,
      expect.stringContaining('browser session may not'),
    ]);
  }
  expect(link.token).toMatch(/^svc_link_/);

  // A trigger, or the creation of a token, returns no other credential.
  await ask('POST /runner/v1/versions', {
    key: keys.dev,
    body: { contentHash: 'a'.repeat(64), tasks: [{ id: 'mail', filePath: 'a.ts' }] },
  });
  const triggered = await tab.ask('POST /api/v1/tasks/mail/trigger', { env: 'dev', body: {} });
  expect([triggered.status, triggered.headers.get('x-trigger-jwt')]).toEqual([200, null]);
  const batch = await tab.ask('POST /api/v2/tasks/batch', {
    env: 'dev',
    body: { items: [{ task: 'mail' }] },
  });
  expect([batch.status, batch.headers.get('x-trigger-jwt')]).toEqual([expect.toBeOneOf([200, 202]), null]);
  const session = await tab.ask('POST /api/v1/sessions', {
    env: 'dev',
    body: { type: 'chat', taskIdentifier: 'mail', triggerConfig: { basePayload: {} } },
  });
  expect([session.status, session.body.publicAccessToken]).toEqual([201, '']);

  // The address of a token is enough to complete it, so read-only users do not get it.
  const waitpoint = await tab.ask('POST /api/v1/waitpoints/tokens', { env: 'prod', body: {} });
  expect(waitpoint.headers.get('x-trigger-jwt')).toBeNull();
  const address = waitpoint.body.url as string;
  const viewer = await logIn(here, { accessToken: (await userWith('viewer')).token });
  for (const request of [
    'GET /api/v1/waitpoints/tokens',
    `GET /api/v1/waitpoints/tokens/${waitpoint.body.id}`,
  ]) {
    const [own, theirs] = [
      await tab.ask(request, { env: 'prod' }),
      await viewer.ask(request, { env: 'prod' }),
    ];
    expect([own.status, theirs.status]).toEqual([200, 200]);
    expect(JSON.stringify(own.body)).toContain(address);
    expect(JSON.stringify(theirs.body)).not.toContain(address);
    expect(JSON.stringify(theirs.body)).toContain('"url":"<redacted>"');
  }
});

test('a key and a token that it creates are shown once, and a token ends with the one behind the session', async () => {
  const here = await sharedInstallation();
  const { ask, projectRef } = here;
  const keysOf = `/api/v1/projects/${projectRef}/prod/keys`;
  const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
  const short = (await ask('POST /api/v1/tokens', { body: { name: 'short', expiresAt: inAnHour } })).body;
  const tab = await logIn(here, { accessToken: short.token });
  const created = await tab.ask(`POST ${keysOf}`, { body: { name: 'ci', preset: 'observer' } });
  expect(created.body.key).toMatch(/^svc_prod_sk_/);
  expect(JSON.stringify((await tab.ask(`GET ${keysOf}`)).body)).not.toContain(created.body.key);
  const token = await tab.ask('POST /api/v1/tokens', { body: { name: 'tools' } });
  expect([token.status, token.body.expiresAt]).toEqual([200, inAnHour]);
  const late = new Date(Date.now() + 7_200_000).toISOString();
  expect((await tab.ask('POST /api/v1/tokens', { body: { name: 'late', expiresAt: late } })).status).toBe(
    422,
  );
});
