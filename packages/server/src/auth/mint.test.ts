import { jwtVerify } from 'jose';
import { expect, test } from 'vitest';
import type { Authenticate } from './authenticate.ts';
import type { Principal } from './principal.ts';
import { installation } from './testing/installation.ts';

async function callerOf(authenticate: Authenticate, authorization: string) {
  const principal: Principal = await authenticate({ authorization });
  if (principal.kind === 'personalAccessToken') throw new TypeError('not a caller that mints');
  return principal;
}

test('a minted token verifies here and, as HS256 under the key, anywhere', async () => {
  const { authenticate, key, mint, publicIdOf } = await installation();
  const caller = await callerOf(authenticate, key('prod'));
  const token =
    (await mint(caller, { scopes: ['read:runs:run_1'], expiresInSeconds: 3_600, oneTime: true })) ?? '';
  const { payload, protectedHeader } = await jwtVerify(token, new TextEncoder().encode(key('prod')));
  expect(protectedHeader).toEqual({ alg: 'HS256' });
  expect(payload).toEqual({
    sub: await publicIdOf('prod'),
    pub: true,
    scopes: ['read:runs:run_1'],
    otu: true,
    iss: 'https://id.trigger.dev',
    aud: 'https://api.trigger.dev',
    iat: expect.closeTo(Date.now() / 1_000, -1) as number,
    exp: (payload.iat ?? 0) + 3_600,
  });
  expect(await authenticate({ authorization: token })).toMatchObject({
    kind: 'publicToken',
    scopes: ['read:runs:run_1'],
    credentialId: caller.credentialId,
  });
});

test('a restricted key gets tokens for what it created, and they end with it', async () => {
  const { addKey, authenticate, mint, sql } = await installation();
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
  // A header that was not seen before is looked up anew, but within a second the keys may be the ones of before.
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

test('an environment without an unrestricted key mints nothing for a restricted one', async () => {
  const { addKey, authenticate, mint, sql } = await installation();
  const { id, text } = await addKey('dev', ['trigger:tasks']);
  await sql`update secret_keys set revoked_at = now() where id <> ${id}`;
  const caller = await callerOf(authenticate, text);
  expect(await mint(caller, { scopes: ['read:runs:run_1'], expiresInSeconds: 60 })).toBeUndefined();
});
