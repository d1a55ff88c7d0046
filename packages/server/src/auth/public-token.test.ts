import { generateKeyPairSync } from 'node:crypto';
import { SignJWT, UnsecuredJWT, type JWTPayload } from 'jose';
import { describe, expect, test } from 'vitest';
import type { Authenticate } from './authenticate.ts';
import { createInstallation } from './testing/installation.ts';

const issuer = 'https://id.trigger.dev';
const audience = 'https://api.trigger.dev';
const seconds = () => Math.floor(Date.now() / 1_000);

const claimsOf = (sub: string, more: JWTPayload = {}): JWTPayload => ({
  sub,
  pub: true,
  scopes: ['read:runs:run_1'],
  iss: issuer,
  aud: audience,
  iat: seconds(),
  exp: seconds() + 900,
  ...more,
});

/** Signs like the published SDK: the key's text is the HMAC key. */
const sign = (key: string, claims: JWTPayload) =>
  new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode(key));

const ask = async (authenticate: Authenticate, token: string) =>
  authenticate({ authorization: `Bearer ${token}` });

const refusal = { status: 401, message: 'Public Access Token is invalid' };

describe('a token that a client signed with its key', () => {
  test('is rejected if one of its restricting claims is invalid', async () => {
    const { authenticate, key, publicIdOf } = await createInstallation();
    const sub = await publicIdOf('prod');
    const by = async (more: JWTPayload) =>
      ask(authenticate, await sign(key('prod'), claimsOf(sub, more))).catch((error: unknown) => error);
    for (const otu of ['true', 'false', '', 1, 0, null, [], {}, [true]]) {
      expect(await by({ otu })).toMatchObject(refusal);
    }
    for (const realtime of [
      null,
      true,
      'payload',
      { skipColumns: 'payload' },
      { skipColumns: ['payload', 1] },
    ]) {
      expect(await by({ realtime })).toMatchObject(refusal);
    }
    expect(await by({ otu: true })).toHaveProperty('oneTimeDigest');
    for (const more of [{}, { otu: false }]) expect(await by(more)).not.toHaveProperty('oneTimeDigest');
    expect(await by({ realtime: { skipColumns: ['payload'] } })).toMatchObject({
      realtime: { skipColumns: ['payload'] },
    });
    expect(await by({ realtime: {} })).toMatchObject({ kind: 'publicToken', realtime: {} });
  });

  test('is verified with the key text of the client, with either prefix', async () => {
    const { authenticate, key, publicIdOf } = await createInstallation();
    const sub = await publicIdOf('prod');
    for (const text of [key('prod'), key('prod').replace('svc_', 'tr_')]) {
      expect(await ask(authenticate, await sign(text, claimsOf(sub)))).toMatchObject({
        kind: 'publicToken',
        scopes: ['read:runs:run_1'],
        environment: { kind: 'prod', publicId: sub },
      });
    }
  });

  test('ignores the branch header and finds a branch by its sub, signed with the parent key', async () => {
    const { authenticate, addBranch, key, publicIdOf } = await createInstallation();
    const branch = await addBranch('preview', 'feat');
    expect(await ask(authenticate, await sign(key('preview'), claimsOf(branch)))).toMatchObject({
      environment: { publicId: branch, branch: 'feat' },
    });
    const token = await sign(key('dev'), claimsOf(await publicIdOf('dev')));
    expect(await authenticate({ authorization: token, triggerBranch: 'feat' })).toMatchObject({
      environment: { kind: 'dev', branch: null },
    });
  });

  test('never allows more than its key', async () => {
    const { authenticate, addKey, publicIdOf } = await createInstallation();
    const { id, text } = await addKey('dev', ['trigger:tasks:a', 'read:runs']);
    const scopes = [
      'trigger:tasks:a',
      'trigger:tasks:b',
      'trigger:tasks',
      'write:tasks:a',
      'read:runs:r',
      'admin',
      '*:all',
    ];
    const token = await sign(text, claimsOf(await publicIdOf('dev'), { scopes }));
    expect(await ask(authenticate, token)).toMatchObject({
      credentialId: id,
      scopes: ['trigger:tasks:a', 'read:runs:r'],
    });
  });

  test('ends with its key', async () => {
    const { authenticate, addKey, publicIdOf, sql } = await createInstallation();
    const { id, text } = await addKey('dev', ['admin']);
    const token = await sign(text, claimsOf(await publicIdOf('dev')));
    await sql`update secret_keys set revoked_at = now() where id = ${id}`;
    await expect(ask(authenticate, token)).rejects.toMatchObject(refusal);
  });

  test('without scopes, or with scopes that are not strings, allows nothing', async () => {
    const { authenticate, key, publicIdOf } = await createInstallation();
    const sub = await publicIdOf('dev');
    for (const scopes of [undefined, 'read:runs', [1, null, { a: 1 }], {}]) {
      expect(await ask(authenticate, await sign(key('dev'), claimsOf(sub, { scopes })))).toMatchObject({
        scopes: [],
      });
    }
  });

  test('has the same digest in every encoding of its signature if it is single-use', async () => {
    const { authenticate, key, publicIdOf } = await createInstallation();
    const token = await sign(key('dev'), claimsOf(await publicIdOf('dev'), { otu: true }));
    const first = await ask(authenticate, token);
    // The last character of a base64url signature has two unused bits.
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const respelled = token.slice(0, -1) + letters.charAt(letters.indexOf(token.at(-1) ?? '') ^ 1);
    const digests = [first, await ask(authenticate, respelled).catch(() => first)].map((principal) =>
      principal.kind === 'publicToken' ? principal.oneTimeDigest : '',
    );
    expect(digests[0]).toMatch(/^[\w-]{43}$/);
    expect(digests[1]).toBe(digests[0]);
  });
});

test('rejects every other token with the same response', async () => {
  const { authenticate, key, publicIdOf } = await createInstallation();
  const [dev, prod] = [await publicIdOf('dev'), await publicIdOf('prod')];
  const good = claimsOf(dev);
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey;
  const encoded = new TextEncoder().encode(key('dev'));
  const valid = await sign(key('dev'), good);
  const [head = '', body = ''] = valid.split('.');
  const bad: Record<string, string> = {
    'alg none': new UnsecuredJWT(good).encode(),
    'alg none with a signature': `${Buffer.from('{"alg":"none"}').toString('base64url')}.${body}.${valid.split('.')[2]}`,
    RS256: await new SignJWT(good).setProtectedHeader({ alg: 'RS256' }).sign(rsa),
    HS512: await new SignJWT(good).setProtectedHeader({ alg: 'HS512' }).sign(encoded),
    'no signature': `${head}.${body}.`,
    'another body': `${head}.${Buffer.from(JSON.stringify({ ...good, scopes: ['admin'] })).toString('base64url')}.${valid.split('.')[2]}`,
    'another key': await sign(`${key('dev')}x`, good),
    "another environment's sub": await sign(key('dev'), claimsOf(prod)),
    'unknown sub': await sign(key('dev'), claimsOf('env_unknown')),
    'sub that the database cannot store': await sign(key('dev'), claimsOf('env_\0')),
    'very long sub': await sign(key('dev'), claimsOf('e'.repeat(20_000))),
    'no sub': await sign(key('dev'), { ...good, sub: undefined }),
    'sub that is not a string': await sign(key('dev'), { ...good, sub: 7 as unknown as string }),
    'wrong issuer': await sign(key('dev'), claimsOf(dev, { iss: 'https://example.com' })),
    'wrong audience': await sign(key('dev'), claimsOf(dev, { aud: 'https://example.com' })),
    'no issuer': await sign(key('dev'), { ...good, iss: undefined }),
    'expired by a second': await sign(key('dev'), claimsOf(dev, { exp: seconds() - 1 })),
    'no expiry': await sign(key('dev'), { ...good, exp: undefined }),
    'expiry that is not a number': await sign(
      key('dev'),
      claimsOf(dev, { exp: 'never' as unknown as number }),
    ),
    'from the future': await sign(key('dev'), claimsOf(dev, { iat: seconds() + 3_600 })),
    'nbf in the future': await sign(key('dev'), claimsOf(dev, { nbf: seconds() + 3_600 })),
    'not public': await sign(key('dev'), claimsOf(dev, { pub: 'true' })),
    'minted for an unknown key': await sign(key('dev'), claimsOf(dev, { via: 'key_unknown' })),
    'unreadable body': `${head}.${Buffer.from('{').toString('base64url')}.c2ln`,
  };
  const answers: Record<string, unknown> = {};
  for (const [name, token] of Object.entries(bad)) {
    answers[name] = await ask(authenticate, token).then(
      () => 'accepted',
      ({ status, message }: { status: number; message: string }) => ({ status, message }),
    );
  }
  expect(answers).toEqual(Object.fromEntries(Object.keys(bad).map((name) => [name, refusal])));
  await expect(ask(authenticate, valid)).resolves.toMatchObject({ kind: 'publicToken' });
});

test('a token with a thousand scopes and unusual colons is accepted', async () => {
  const { authenticate, key, publicIdOf } = await createInstallation();
  const scopes = Array.from({ length: 1_000 }, (_, i) => `read:tags:${':'.repeat(i % 7)}${i}`);
  const token = await sign(key('dev'), claimsOf(await publicIdOf('dev'), { scopes }));
  expect(await ask(authenticate, token)).toMatchObject({ scopes });
});
