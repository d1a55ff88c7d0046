import { auth, configure } from '@millrace/sdk';
import { expect, test } from 'vitest';
import { sharedInstallation, installation } from './installation.ts';

const claimsOf = (token: string): { exp: number; iat: number; scopes: string[] } =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());

const session = (externalId: string) => ({
  type: 'chat',
  taskIdentifier: 'chat',
  externalId,
  triggerConfig: { basePayload: {} },
});

test('a token that is created by another one does not outlive it, on any route', async () => {
  const { ask, keys } = await sharedInstallation();
  const { body: started } = await ask('POST /api/v1/sessions', { key: keys.prod, body: session('a') });
  const scopes = [
    'trigger:tasks',
    'batchTrigger:tasks',
    'write:waitpoints',
    'read:sessions',
    'write:sessions',
    'write:batch',
  ];
  const expiresAt = Math.floor(Date.now() / 1_000) + 20;
  const { body } = await ask('POST /api/v1/auth/public-tokens', {
    key: keys.prod,
    body: { scopes, expirationTime: expiresAt },
  });
  const key = body.token as string;
  const items = [{ task: 'work', payload: 1 }];
  const requests: Record<string, () => Promise<string | null | undefined>> = {};
  const handing = (request: string, sent: unknown, header = 'x-trigger-jwt') => {
    requests[request] = async () => {
      const answer = await ask(request, { key, body: sent, headers: { 'x-trigger-client': 'browser' } });
      expect([request, answer.status < 300]).toEqual([request, true]);
      return answer.headers.get(header);
    };
  };
  handing('POST /api/v1/tasks/work/trigger', { payload: 1 });
  handing('POST /api/v3/batches', { runCount: 1 });
  handing('POST /api/v2/tasks/batch', { items });
  handing('POST /api/v1/waitpoints/tokens', {});
  handing('PUT /realtime/v1/sessions/a/in', undefined, 'x-s2-access-token');
  requests['POST /api/v1/sessions'] = async () =>
    (await ask('POST /api/v1/sessions', { key, body: session('b') })).body.publicAccessToken;
  requests['the same session again'] = async () =>
    (await ask('POST /api/v1/sessions', { key, body: session('a') })).body.publicAccessToken;
  for (const [request, createToken] of Object.entries(requests)) {
    const token = await createToken();
    expect([request, claimsOf(token ?? '').exp]).toEqual([request, expiresAt]);
  }
  // A token that a key creates has the usual lifetime.
  const { exp, iat } = claimsOf(started.publicAccessToken as string);
  expect(exp - iat).toBe(3_600);

  // Nor does an address that accepts no credential.
  const { headers, body: run } = await ask('POST /api/v1/tasks/work/trigger', { key, body: { payload: 1 } });
  expect(headers.get('x-trigger-jwt')).not.toBeNull();
  const packet = await ask('PUT /api/v2/packets/mine', { key });
  const { pathname } = new URL(packet.body.presignedUrl as string);
  const [grant = ''] = (pathname.split('/').at(-1) ?? '').split('.');
  const { until } = JSON.parse(Buffer.from(grant, 'base64url').toString()) as { until: number };
  expect([run.id.slice(0, 4), until <= expiresAt * 1_000]).toEqual(['run_', true]);
});

test('a public token for a session lives for an hour by default, and any other for a quarter', async () => {
  const { ask, keys } = await sharedInstallation();
  const lifetime = async (scopes: readonly string[], more: object = {}): Promise<number> => {
    const { body } = await ask('POST /api/v1/auth/public-tokens', {
      key: keys.prod,
      body: { scopes, ...more },
    });
    const { exp, iat } = claimsOf(body.token as string);
    return exp - iat;
  };
  for (const scope of [
    'read:sessions:a',
    'write:sessions:session_1',
    'read:sessions',
    'read:sessions:a:out',
  ]) {
    expect([scope, await lifetime([scope])]).toEqual([scope, 3_600]);
  }
  expect(await lifetime(['read:sessions:a', 'write:sessions:a'])).toBe(3_600);
  expect(await lifetime(['read:runs:sessions', 'trigger:tasks:sessions:a'])).toBe(900);
  expect(await lifetime(['read:sessions:a'], { expirationTime: '5m' })).toBe(300);
});

test('our SDK leaves the lifetime of a token to the server', async () => {
  const { server, keys } = await sharedInstallation();
  configure({ baseURL: server.url, accessToken: keys.prod });
  const ofSession = await auth.createPublicToken({
    scopes: { read: { sessions: 'a' }, write: { sessions: 'a' } },
  });
  const ofRun = await auth.createPublicToken({ scopes: { read: { runs: 'run_1' } } });
  const lifetimes = [ofSession, ofRun].map(claimsOf).map(({ exp, iat }) => exp - iat);
  expect(lifetimes).toEqual([3_600, 900]);
});

/** When the address of a packet expires. */
function untilOf(address: string): number {
  const [grant = ''] = (new URL(address).pathname.split('/').at(-1) ?? '').split('.');
  return (JSON.parse(Buffer.from(grant, 'base64url').toString()) as { until: number }).until;
}

test('everything that an expiring secret key creates ends with it', async () => {
  const { ask, keyWith, sql } = await installation();
  const key = await keyWith(['admin']);
  const expiresAt = Math.floor(Date.now() / 1_000) + 60;
  const [signer] = await sql`update secret_keys set expires_at = to_timestamp(${expiresAt})
                              where last_four = ${key.slice(-4)} returning id`;
  const scopes = ['read:runs', 'trigger:tasks'];
  const tokens: string[] = [];
  for (const [request, body] of [
    ['POST /api/v1/auth/public-tokens', { scopes, expirationTime: '2h' }],
    ['POST /api/v1/auth/jwt', { claims: { scopes }, expirationTime: '2h' }],
  ] as const) {
    const { body: answer } = await ask(request, { key, body });
    expect([request, claimsOf(answer.token as string).exp]).toEqual([request, expiresAt]);
    tokens.push(answer.token as string);
  }
  const { body: started } = await ask('POST /api/v1/sessions', { key, body: session('a') });
  expect(claimsOf(started.publicAccessToken as string).exp).toBe(expiresAt);
  const { headers } = await ask('PUT /realtime/v1/sessions/a/in', { key });
  expect(claimsOf(headers.get('x-s2-access-token') ?? '').exp).toBe(expiresAt);
  const address = async (by: string) =>
    untilOf((await ask('PUT /api/v2/packets/a', { key: by })).body.presignedUrl);
  expect(await address(key)).toBe(expiresAt * 1_000);

  // Its key is rotated later, for example, and ends before the token does.
  const sooner = expiresAt - 20;
  await sql`update secret_keys set expires_at = to_timestamp(${sooner}) where id = ${signer?.['id']}`;
  for (const token of tokens) await expect.poll(() => address(token)).toBe(sooner * 1_000);
});

test('everything that an expiring personal access token creates ends with it', async () => {
  const { ask, projectRef } = await sharedInstallation();
  const expiresAt = Math.floor(Date.now() / 1_000) + 60;
  const { body: created } = await ask('POST /api/v1/tokens', {
    body: { name: 'short', expiresAt: new Date(expiresAt * 1_000).toISOString() },
  });
  const { body } = await ask(`POST /api/v1/projects/${projectRef}/prod/jwt`, {
    key: created.token,
    body: { claims: { scopes: ['read:runs'] }, expirationTime: '2h' },
  });
  expect(claimsOf(body.token as string).exp).toBe(expiresAt);
});
