import { describe, expect, test } from 'vitest';
import { sharedInstallation, installation } from './installation.ts';

const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;

describe('public tokens on request', () => {
  test('allow the requested scopes for the requested time', async () => {
    const { ask, keys, publicIdOf } = await sharedInstallation();
    const make = (body: object, key = keys.prod) => ask('POST /api/v1/auth/public-tokens', { key, body });
    const created = await make({ scopes: ['read:errors'] });
    const { iat, exp, sub } = claimsOf(created.body.token) as { iat: number; exp: number; sub: string };
    expect(exp - iat).toBe(900);
    expect(sub).toBe(await publicIdOf('prod'));
    expect((await ask('GET /api/v1/errors', { key: created.body.token })).status).toBe(200);
    expect((await ask('GET /api/v1/whoami', { key: created.body.token })).body).toMatchObject({
      kind: 'publicToken',
      scopes: ['read:errors'],
      environment: { name: 'prod' },
    });
    const seconds = Math.floor(Date.now() / 1_000);
    for (const expirationTime of ['2 hours', seconds + 7_200]) {
      const timed = claimsOf((await make({ scopes: ['read:runs'], expirationTime })).body.token);
      expect(Math.abs((timed['exp'] as number) - seconds - 7_200)).toBeLessThan(5);
    }
    const realtime = { skipColumns: ['payload'] };
    expect(
      claimsOf((await make({ scopes: ['read:runs'], oneTimeUse: true, realtime })).body.token),
    ).toMatchObject({
      otu: true,
      realtime,
    });
  });

  test('never exceed the key, and the error names the scopes that would', async () => {
    const { ask, keys, keyWith } = await sharedInstallation();
    const key = await keyWith(['trigger:tasks:a', 'read:runs']);
    const make = (scopes: string[], by = key) =>
      ask('POST /api/v1/auth/public-tokens', { key: by, body: { scopes } });
    expect((await make(['trigger:tasks:a', 'read:runs:run_1'])).status).toBe(200);
    expect(await make(['read:runs', 'write:tasks:a', 'trigger:tasks', 'admin'])).toMatchObject({
      status: 403,
      body: { code: 'scopes_exceed_key_access', deniedScopes: ['write:tasks:a', 'trigger:tasks', 'admin'] },
    });
    expect((await make(['read'], keys.prod)).status).toBe(403);
    expect((await make(['admin', 'read:all'], keys.prod)).status).toBe(200);
    expect((await make(['read:tags:a:b:c::'], keys.prod)).status).toBe(200);
    const thousand = Array.from({ length: 1_000 }, (_, i) => `read:errors:error_${i}`);
    const wide = await make([...thousand.slice(1), 'read:errors'], keys.prod);
    expect(wide.body.token.length).toBeGreaterThan(16_384);
    expect((await ask('GET /api/v1/errors', { key: wide.body.token })).status).toBe(200);
    expect(
      await make(
        thousand.map((scope) => `${scope}${'x'.repeat(50)}`),
        keys.prod,
      ),
    ).toMatchObject({
      status: 400,
      body: { error: expect.stringMatching(/^scopes: \d+ bytes/) as string },
    });
  });

  test('are rejected for an invalid lifetime', async () => {
    const { ask, keys } = await sharedInstallation();
    const make = (body: object) => ask('POST /api/v1/auth/public-tokens', { key: keys.dev, body });
    const scopes = ['read:runs'];
    expect((await make({ scopes: [] })).status).toBe(400);
    expect((await make({ scopes: Array.from({ length: 1_001 }, () => 'read:runs') })).status).toBe(400);
    expect((await make({ scopes, expirationTime: 'soon' })).body.error).toMatch(/^Invalid expiration time/);
    expect((await make({ scopes, expirationTime: '-1h' })).body.error).toMatch(/in the future/);
    expect((await make({ scopes, expirationTime: 1 })).body.error).toMatch(/in the future/);
    expect((await make({ scopes, expirationTime: '31d' })).body.error).toMatch(/30 days/);
    expect((await make({ scopes, expirationTime: 1e15 })).status).toBe(400);
    expect((await make({ scopes, expirationTime: '30d' })).status).toBe(200);
  });

  test('are ended by the end of the key that created them, on every process, within a second', async () => {
    const { ask, another, projectRef, keys } = await installation();
    const other = await another();
    const { body: key } = await ask(`POST /api/v1/projects/${projectRef}/prod/keys`, {
      body: { name: 'x', preset: 'observer' },
    });
    const { body } = await ask('POST /api/v1/auth/public-tokens', {
      key: key.key,
      body: { scopes: ['read:errors'] },
    });
    const root = await ask('POST /api/v1/auth/public-tokens', {
      key: keys.prod,
      body: { scopes: ['read:errors'] },
    });
    const both = async (credential: string) =>
      Promise.all([
        ask('GET /api/v1/errors', { key: credential }),
        ask('GET /api/v1/errors', { key: credential, server: other }),
      ]).then((answers) => answers.map(({ status }) => status));
    // Known to both processes, and checked again during all the requests.
    for (const credential of [key.key, body.token, root.body.token]) {
      expect(await both(credential)).toEqual([200, 200]);
    }
    await ask(`POST /api/v1/projects/${projectRef}/prod/keys/${key.id}/revoke`);
    const revokedAt = performance.now();
    const ended: number[] = [];
    for (const credential of [key.key, body.token]) {
      await expect.poll(() => both(credential), { interval: 20, timeout: 3_000 }).toEqual([401, 401]);
      ended.push(performance.now() - revokedAt);
    }
    expect(Math.max(...ended)).toBeLessThan(1_100);
    expect(await both(root.body.token)).toEqual([200, 200]);
  });

  test('signed by the server outlive a rotation of its key by the overlap', async () => {
    const { ask, keys, projectRef } = await sharedInstallation();
    const make = async () =>
      (await ask('POST /api/v1/auth/jwt', { key: keys.dev, body: { claims: { scopes: ['read:errors'] } } }))
        .body.token as string;
    const rotate = (body: object) =>
      ask(`POST /api/v1/projects/${projectRef}/dev/signing-key/rotate`, { body });
    const status = async (key: string) => (await ask('GET /api/v1/errors', { key })).status;
    const [first, second] = [await make(), await make()];
    expect(claimsOf(first)['exp'] as number).toBe((claimsOf(first)['iat'] as number) + 3_600);
    expect(await status(first)).toBe(200);
    expect((await rotate({ overlap: '1h' })).status).toBe(200);
    expect(await status(second)).toBe(200);
    expect((await rotate({ overlap: '0s' })).status).toBe(200);
    await expect.poll(() => status(first)).toBe(401);
    await expect.poll(async () => status(await make())).toBe(200);
  });

  test('in the name of a user act for them while they are a member', async () => {
    const { ask, organization, projectRef, publicIdOf, token, userWith } = await sharedInstallation();
    const at = `POST /api/v1/projects/${projectRef}/production/jwt`;
    const fields = { claims: { scopes: ['read:errors', 'write:errors'] }, expirationTime: '5m' };
    const { id, token: member } = await userWith('member');
    const { body } = await ask(at, { key: member, body: fields });
    expect(claimsOf(body.token)).toMatchObject({ act: { sub: id }, sub: await publicIdOf('prod') });
    expect((await ask('GET /api/v1/errors', { key: body.token })).status).toBe(200);

    expect((await ask(at, { key: member, body: { claims: { scopes: ['admin'] } } })).status).toBe(403);
    expect((await ask(at, { key: member, body: { claims: { scopes: ['*:runs'] } } })).status).toBe(403);
    expect((await ask(at, { key: token, body: { claims: { scopes: ['admin'] } } })).status).toBe(200);
    const viewer = await userWith('viewer');
    expect((await ask(at, { key: viewer.token, body: fields })).status).toBe(403);

    await ask(`DELETE /api/v1/orgs/${organization}/members/${id}`);
    await expect.poll(async () => (await ask('GET /api/v1/errors', { key: body.token })).status).toBe(401);
  });

  test('of a branch are limited to that branch', async () => {
    const { ask, projectRef } = await sharedInstallation();
    const { body: branch } = await ask(`POST /api/v1/projects/${projectRef}/branches`, {
      body: { branch: 'feat' },
    });
    const make = (env: string, name: string) =>
      ask(`POST /api/v1/projects/${projectRef}/${env}/jwt`, {
        body: {},
        headers: { 'x-service-branch': name },
      });
    expect(claimsOf((await make('preview', 'feat')).body.token)['sub']).toBe(branch.id);
    expect((await make('preview', 'other')).status).toBe(404);
    expect((await make('prod', 'other')).status).toBe(200);
  });

  test('that clients sign themselves need only the claims', async () => {
    const { ask, keyWith, sign, publicIdOf } = await sharedInstallation();
    const key = await keyWith(['read:errors', 'trigger:tasks:a']);
    const claims = await ask('POST /api/v1/auth/jwt/claims', { key });
    expect(claims).toMatchObject({ status: 200, body: { sub: await publicIdOf('prod'), pub: true } });
    const token = sign(key, { ...claims.body, scopes: ['read:errors', 'admin'] });
    expect((await ask('GET /api/v1/errors', { key: token })).status).toBe(200);
    expect((await ask('POST /api/v1/errors/error_x/resolve', { key: token, body: {} })).status).toBe(403);
  });
});
