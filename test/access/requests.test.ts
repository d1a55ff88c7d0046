import { describe, expect, test } from 'vitest';
import { sharedInstallation, installation } from './installation.ts';

describe('a repeated request', () => {
  test('is executed once with the same reply, also with a one-time token', async () => {
    const { ask, keys, sql } = await installation();
    const trigger = 'POST /api/v1/tasks/send/trigger';
    const headers = { 'x-trigger-request-idempotency-key': '7b0e5d9e-0f27-4c8d-b1fe-0d6f0c1a6f11' };
    const send = (key: string) => ask(trigger, { key, headers, body: {} });
    const [first, second] = await Promise.all([send(keys.prod), send(keys.prod)]);
    const third = await send(keys.prod);
    expect(first.body).toEqual({ id: expect.stringMatching(/^run_/) as string, isCached: false });
    for (const again of [second, third]) {
      expect(again.body).toEqual(first.body);
      expect(again.headers.get('x-trigger-jwt')).toMatch(/^eyJ/);
    }
    expect((await send(keys.dev)).body.id).not.toBe(first.body.id);
    const { body } = await ask('POST /api/v1/auth/public-tokens', {
      key: keys.prod,
      body: { scopes: ['trigger:tasks:send'], oneTimeUse: true },
    });
    const used = await send(body.token);
    expect(await send(body.token)).toMatchObject({ status: 200, body: used.body });
    expect((await ask(trigger, { key: body.token, body: {} })).status).toBe(422);
    const [{ count } = { count: 0 }] = await sql<
      { count: number }[]
    >`select count(*)::int as count from runs`;
    expect(count).toBe(3);
  });

  test('counts as a different one if its key is used with another object, environment or body', async () => {
    const { ask, projectRef } = await sharedInstallation();
    const headers = { 'x-trigger-request-idempotency-key': '7b0e5d9e-0f27-4c8d-b1fe-0d6f0c1a6f11' };
    await ask(`POST /api/v1/projects/${projectRef}/branches`, { body: { branch: 'b' } });
    const places: [string, object][] = [
      ['prod', {}],
      ['stg', {}],
      ['preview', { 'x-service-branch': 'b' }],
      ['preview', {}],
    ];
    for (const [env, branch] of places) {
      const at = `/api/v1/projects/${projectRef}/envvars/${env}`;
      for (const name of ['A', 'B']) {
        const body = { name, value: name };
        expect((await ask(`POST ${at}`, { headers: { ...headers, ...branch }, body })).status).toBe(200);
      }
      // Only variables of a branch can be inherited.
      const own = 'x-service-branch' in branch ? { isInherited: false } : {};
      // The repeated request is executed once: the change in between is kept.
      await ask(`PUT ${at}/A`, { headers: { ...branch }, body: { value: 'changed' } });
      await ask(`POST ${at}`, { headers: { ...headers, ...branch }, body: { name: 'A', value: 'A' } });
      expect((await ask(`GET ${at}`, { headers: { ...branch } })).body).toEqual([
        { name: 'A', value: 'changed', isSecret: false, ...own },
        { name: 'B', value: 'B', isSecret: false, ...own },
      ]);
    }
  });
});

describe('a rate limit', () => {
  test('is separate for each public token, given in milliseconds, and absent for keys', async () => {
    const { ask, keys } = await installation({ rateLimits: { publicToken: { burst: 3, perSecond: 1 } } });
    const make = async (scope: string) =>
      (
        await ask('POST /api/v1/auth/public-tokens', {
          key: keys.prod,
          body: { scopes: ['read:errors', scope] },
        })
      ).body.token as string;
    const [first, second] = [await make('read:tags:1'), await make('read:tags:2')];
    const list = (key: string) => ask('GET /api/v1/errors', { key });
    for (const remaining of ['2', '1', '0']) {
      const { status, headers } = await list(first);
      expect([status, headers.get('x-ratelimit-limit'), headers.get('x-ratelimit-remaining')]).toEqual([
        200,
        '3',
        remaining,
      ]);
    }
    const refused = await list(first);
    expect(refused).toMatchObject({ status: 429, body: { error: expect.any(String) as string, limit: 3 } });
    const reset = Number(refused.headers.get('x-ratelimit-reset'));
    expect(reset).toBeGreaterThan(Date.now());
    expect(reset).toBeLessThan(Date.now() + 1_500);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect((await list(second)).status).toBe(200);
    const free = await list(keys.prod);
    expect([free.status, free.headers.get('x-ratelimit-limit')]).toEqual([200, null]);
    expect((await ask('GET /api/v1/timezones', { key: '' })).headers.get('x-ratelimit-limit')).toBeNull();
  });
});
