import { jwtVerify, SignJWT } from 'jose';
import { expect, test, vi } from 'vitest';
import type { Authenticate } from './authenticate.ts';
import { isUser, type Principal } from './principal.ts';
import { signingKeyContext, unseal } from './seal.ts';
import { createInstallation, masterKey } from './testing/installation.ts';

async function callerOf(authenticate: Authenticate, authorization: string) {
  const principal: Principal = await authenticate({ authorization });
  if (isUser(principal)) throw new TypeError('this caller cannot mint tokens');
  return principal;
}

test('a minted token is signed with a key known to no client, and names the key that created it', async () => {
  const { authenticate, key, mint, publicIdOf, sql } = await createInstallation();
  const caller = await callerOf(authenticate, key('prod'));
  const token =
    (await mint(caller, { scopes: ['read:runs:run_1'], expiresInSeconds: 3_600, oneTime: true })) ?? '';
  const [row] = await sql<{ id: string; sealed: Buffer }[]>`
    select s.id, s.sealed from signing_keys s join environments e on e.id = s.environment_id where e.kind = 'prod'`;
  const signingKey = unseal(masterKey, row?.sealed ?? Buffer.alloc(0), signingKeyContext(row?.id ?? ''));
  const { payload, protectedHeader } = await jwtVerify(token, new TextEncoder().encode(signingKey));
  expect(protectedHeader).toEqual({ alg: 'HS256' });
  expect(payload).toEqual({
    sub: await publicIdOf('prod'),
    pub: true,
    scopes: ['read:runs:run_1'],
    otu: true,
    jti: expect.any(String) as string,
    via: caller.credentialId,
    iss: 'https://id.trigger.dev',
    aud: 'https://api.trigger.dev',
    iat: expect.closeTo(Date.now() / 1_000, -1) as number,
    exp: (payload.iat ?? 0) + 3_600,
  });
  expect(await authenticate({ authorization: token })).toMatchObject({
    kind: 'publicToken',
    scopes: ['read:runs:run_1'],
    credentialId: caller.credentialId,
    expiresAt: new Date((payload.exp ?? 0) * 1_000),
  });
});

test('a token created with a token acts for the same user, and omits the same columns', async () => {
  const { authenticate, credentials, mint, publicIdOf, sql } = await createInstallation();
  const [user] = await sql<{ id: string; token: string }[]>`
    select u.id, t.id as token from users u join personal_access_tokens t on t.user_id = u.id`;
  const { userId, credentialId } = { userId: user?.id ?? '', credentialId: user?.token ?? '' };
  const [environment] = await sql<{ id: number; project: number }[]>`
    select id, project_id as project from environments where kind = 'prod'`;
  const prod = {
    id: environment?.id ?? 0,
    publicId: await publicIdOf('prod'),
    kind: 'prod',
    branch: null,
    projectId: environment?.project ?? 0,
    projectRef: credentials.projectRef,
  } as const;
  const first = await mint(
    { environment: prod, credentialId, actor: userId },
    { scopes: ['trigger:tasks'], expiresInSeconds: 60, realtime: { skipColumns: ['payload'] } },
  );
  const holder = await callerOf(authenticate, first ?? '');
  const second = await mint(holder, { scopes: ['read:runs:run_1'], expiresInSeconds: 60 });
  expect(await authenticate({ authorization: second })).toMatchObject({
    actor: userId,
    credentialId,
    realtime: { skipColumns: ['payload'] },
    scopes: ['read:runs:run_1'],
  });
  await sql`delete from memberships`;
  await expect(Promise.resolve(authenticate({ authorization: `Bearer ${second}` }))).rejects.toMatchObject({
    status: 401,
  });
});

test('a restricted key receives tokens for the objects it created, and they end with the key', async () => {
  const { addKey, authenticate, mint, sql } = await createInstallation();
  const { id, text } = await addKey('dev', ['trigger:tasks']);
  const caller = await callerOf(authenticate, text);
  const mintOne = () =>
    mint(caller, {
      scopes: ['read:runs:run_1'],
      expiresInSeconds: 60,
      realtime: { skipColumns: ['payload'] },
    });
  const token = (await mintOne()) ?? '';
  expect(await authenticate({ authorization: token })).toMatchObject({
    credentialId: id,
    scopes: ['read:runs:run_1'],
  });
  await sql`update secret_keys set revoked_at = now() where id = ${id}`;
  // A new header causes another lookup, but the keys may be cached for up to a second.
  await expect
    .poll(
      () =>
        Promise.resolve(authenticate({ authorization: `Bearer ${token}` })).then(
          () => 'good',
          () => 'refused',
        ),
      {
        timeout: 3_000,
      },
    )
    .toBe('refused');
});

test('an environment whose only key is restricted can still mint tokens', async () => {
  const { addKey, authenticate, mint, sql } = await createInstallation();
  const { id, text } = await addKey('dev', ['trigger:tasks']);
  await sql`update secret_keys set revoked_at = now() where id <> ${id}`;
  const token = await mint(await callerOf(authenticate, text), {
    scopes: ['read:runs:run_1'],
    expiresInSeconds: 60,
  });
  expect(await authenticate({ authorization: token })).toMatchObject({ scopes: ['read:runs:run_1'] });
});

test('a client cannot name another key or a user in its token', async () => {
  const { authenticate, addKey, key, publicIdOf } = await createInstallation();
  const other = await addKey('dev', ['admin']);
  const claims = { pub: true, scopes: ['read:runs'], act: { sub: 'user_somebody' } };
  const sign = async (more: object) =>
    new SignJWT({ ...claims, ...more })
      .setProtectedHeader({ alg: 'HS256' })
      .setSubject(await publicIdOf('dev'))
      .setIssuer('https://id.trigger.dev')
      .setAudience('https://api.trigger.dev')
      .setIssuedAt()
      .setExpirationTime('1m')
      .sign(new TextEncoder().encode(key('dev')));
  expect(await authenticate({ authorization: await sign({}) })).not.toHaveProperty('actor');
  await expect(
    Promise.resolve(authenticate({ authorization: await sign({ via: other.id }) })),
  ).rejects.toMatchObject({ status: 401 });
});

test('a token created with a new key is valid immediately', async () => {
  const { addKey, authenticate, mint, key } = await createInstallation();
  // The environment's keys are cached, without the new one below.
  const earlier = await mint(await callerOf(authenticate, key('dev')), { scopes: [], expiresInSeconds: 60 });
  await authenticate({ authorization: earlier });
  const { id, text } = await addKey('dev', ['admin']);
  const token = await mint(await callerOf(authenticate, text), {
    scopes: ['read:runs'],
    expiresInSeconds: 60,
  });
  expect(await authenticate({ authorization: token })).toMatchObject({ credentialId: id });
});

test('tokens signed with a new key are valid immediately', async () => {
  const { addKey, authenticate, key, publicIdOf } = await createInstallation();
  const sub = await publicIdOf('dev');
  const sign = (text: string) =>
    new SignJWT({ pub: true, scopes: [] })
      .setProtectedHeader({ alg: 'HS256' })
      .setSubject(sub)
      .setIssuer('https://id.trigger.dev')
      .setAudience('https://api.trigger.dev')
      .setExpirationTime('1m')
      .sign(new TextEncoder().encode(text));
  await authenticate({ authorization: await sign(key('dev')) });
  const { id, text } = await addKey('dev', ['admin']);
  expect(await authenticate({ authorization: await sign(text) })).toMatchObject({ credentialId: id });
});

test.each([-10, 10])('a token minted by a server whose clock is off by %s minutes is valid', async (off) => {
  const { authenticate, key, mint } = await createInstallation();
  const caller = await callerOf(authenticate, key('prod'));
  const real = Date.now();
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => real + off * 60_000);
  const token = await mint(caller, { scopes: ['read:runs'], expiresInSeconds: 60 }).finally(() =>
    clock.mockRestore(),
  );
  expect(await authenticate({ authorization: token })).toMatchObject({ kind: 'publicToken' });
});
