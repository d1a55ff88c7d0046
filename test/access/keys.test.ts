import { presets, scopesOfPreset } from '@millrace/contract';
import { describe, expect, test } from 'vitest';
import { sharedInstallation, installation } from './installation.ts';
import { promote } from '../support/promote.ts';

const trigger = (task: string) => `POST /api/v1/tasks/${task}/trigger`;

describe('secret keys', () => {
  test('are created with the scopes of their preset, shown once, used, revoked', async () => {
    const { ask, projectRef, sql, logged } = await installation();
    const at = `/api/v1/projects/${projectRef}/production/keys`;
    for (const preset of presets) {
      const created = await ask(`POST ${at}`, { body: { name: ` ${preset} `, preset } });
      expect(created).toMatchObject({
        status: 200,
        body: {
          name: preset,
          preset,
          scopes: scopesOfPreset(preset),
          key: expect.stringMatching(/^svc_prod_sk_\w{24}$/) as string,
        },
      });
    }
    const created = (await ask(`POST ${at}`, { body: { name: 'trigger', preset: 'trigger-only' } })).body;
    expect((await ask(trigger('a'), { key: created.key, body: {} })).status).toBe(200);
    expect((await ask('GET /api/v1/errors', { key: created.key })).status).toBe(403);
    const listed = (await ask(`GET ${at}`)).body.data as { id: string; lastUsedAt?: string }[];
    expect(JSON.stringify(listed)).not.toContain(created.key);
    await expect
      .poll(
        async () =>
          ((await ask(`GET ${at}`)).body.data as { id: string; lastUsedAt?: string }[]).find(
            ({ id }) => id === created.id,
          )?.lastUsedAt,
      )
      .toEqual(expect.any(String));
    expect(listed).toHaveLength(presets.length + 2);

    const revoked = await ask(`POST ${at}/${created.id}/revoke`);
    expect(revoked).toMatchObject({ status: 200, body: { revokedAt: expect.any(String) as string } });
    expect((await ask(`POST ${at}/${created.id}/revoke`)).body).toEqual(revoked.body);
    await expect.poll(async () => (await ask(trigger('a'), { key: created.key, body: {} })).status).toBe(401);
    expect(JSON.stringify(await sql`select k::text from secret_keys k`)).not.toContain(created.key);
    expect(logged.join('')).not.toContain(created.key);
  });

  test('receive the name of a task only with permission to read tasks', async () => {
    const { ask, keys, projectRef, server } = await sharedInstallation();
    const register = async (id: string) => {
      const tasks = [{ id, filePath: 'x.ts', exportName: id }];
      await ask('POST /runner/v1/versions', { key: keys.prod, body: { contentHash: id.repeat(9), tasks } });
      await promote(server.url, keys.prod);
    };
    await register('payrol');
    const body = { name: 'one', preset: 'task-operator', tasks: ['payrol'] };
    const created = await ask(`POST /api/v1/projects/${projectRef}/prod/keys`, { body: body });
    await register('payroll');
    const run = await ask(trigger('payrol'), { key: keys.prod, body: {} });
    const why = async (key: string) => (await ask(`GET /api/v1/runs/${run.body.id}/reason`, { key })).body;
    expect(await why(keys.prod)).toMatchObject({ reason: 'no_version', nearestTask: 'payroll' });
    const reason = await why(String(created.body.key));
    expect(reason).toMatchObject({ reason: 'no_version' });
    expect(JSON.stringify(reason)).not.toContain('payroll');
  });

  test('restricted to tasks trigger only these, alone and together', async () => {
    const { ask, keys, projectRef, server } = await sharedInstallation();
    const at = `/api/v1/projects/${projectRef}/prod/keys`;
    const tasks = ['a', 'b'].map((id) => ({ id, filePath: 'x.ts', exportName: id }));
    await ask('POST /runner/v1/versions', { key: keys.prod, body: { contentHash: 'a'.repeat(64), tasks } });
    await promote(server.url, keys.prod);
    const body = { name: 'two', preset: 'task-operator', tasks: ['a', 'b', 'a'] };
    const created = await ask(`POST ${at}`, { body: body });
    expect(created).toMatchObject({
      status: 200,
      body: { tasks: ['a', 'b'], scopes: scopesOfPreset('task-operator', ['a', 'b']) },
    });
    const { key } = created.body as { key: string };
    const run = await ask(trigger('a'), { key, body: {} });
    expect(run.status).toBe(200);
    expect((await ask(`GET /api/v3/runs/${run.body.id}`, { key })).status).toBe(200);
    expect((await ask(trigger('c'), { key, body: {} })).status).toBe(403);
    const many = (...ids: string[]) =>
      ask('POST /api/v1/tasks/trigger-many', { key, body: { items: ids.map((task) => ({ task })) } });
    expect((await many('a', 'b')).status).toBe(200);
    expect((await many('a', 'c')).status).toBe(403);

    const other = await ask(trigger('c'), { key: keys.prod, body: {} });
    const [exists, not] = await Promise.all(
      [other.body.id as string, 'run_unknown'].map((id) => ask(`GET /api/v3/runs/${id}`, { key })),
    );
    expect(exists).toMatchObject({ status: 403, body: not?.body });
    expect(not?.status).toBe(403);
  });

  test('are rejected with invalid settings', async () => {
    const { ask, projectRef, userWith } = await sharedInstallation();
    const at = `/api/v1/projects/${projectRef}/prod/keys`;
    const make = (body: object) => ask(`POST ${at}`, { body });
    expect((await make({ name: '  ' })).status).toBe(400);
    expect((await make({ name: 'x'.repeat(65) })).status).toBe(400);
    expect((await make({ name: 'x', preset: 'everything' })).status).toBe(400);
    expect((await make({ name: 'x', expiresAt: 'tomorrow' })).status).toBe(400);
    expect((await make({ name: 'x', expiresAt: '2020-01-01T00:00:00Z' })).status).toBe(422);
    expect((await make({ name: 'x', preset: 'observer', tasks: ['a'] })).status).toBe(422);
    expect(await make({ name: 'x', preset: 'trigger-only', tasks: ['unknown'] })).toMatchObject({
      status: 422,
      body: { error: expect.stringContaining('"unknown"') as string },
    });
    const eleven = Array.from({ length: 11 }, (_, i) => `t${i}`);
    expect((await make({ name: 'x', preset: 'trigger-only', tasks: eleven })).status).toBe(400);
    expect((await ask(`POST /api/v1/projects/${projectRef}/test/keys`, { body: { name: 'x' } })).status).toBe(
      404,
    );
    const elsewhere = await ask(`POST /api/v1/projects/proj_unknown/prod/keys`, { body: { name: 'x' } });
    expect(elsewhere).toMatchObject({ status: 404, body: { error: 'Project not found' } });
    const { token } = await userWith('member');
    expect((await ask(`POST ${at}`, { key: token, body: { name: 'x' } })).status).toBe(403);
  });

  test('end when they expire', async () => {
    const { ask, projectRef } = await sharedInstallation();
    const expiresAt = new Date(Date.now() + 1_500).toISOString();
    const { body } = await ask(`POST /api/v1/projects/${projectRef}/dev/keys`, {
      body: { name: 'x', expiresAt },
    });
    const status = async () => (await ask('GET /api/v1/whoami', { key: body.key })).status;
    expect(await status()).toBe(200);
    await expect.poll(status, { timeout: 4_000 }).toBe(401);
    expect(Date.now()).toBeGreaterThanOrEqual(new Date(expiresAt).getTime());
  });

  test('are rotated with an overlap, in which both are valid', async () => {
    const { ask, keys, projectRef, sql } = await installation();
    const at = `/api/v1/projects/${projectRef}/stg`;
    const rotated = await ask(`POST ${at}/regenerate-api-key`);
    expect(rotated).toMatchObject({
      status: 200,
      body: { apiKey: expect.stringMatching(/^svc_stg_sk_/) as string },
    });
    for (const key of [keys.stg, rotated.body.apiKey]) {
      expect((await ask('GET /api/v1/errors', { key })).status).toBe(200);
    }
    const [old] = await sql<{ hours: number }[]>`
      select extract(epoch from expires_at - now()) / 3600 as hours from secret_keys where last_four = ${keys.stg.slice(-4)}`;
    expect(Number(old?.hours)).toBeCloseTo(24, 1);
    // The new one is shown to tools.
    expect((await ask(`GET ${at}`)).body.apiKey).toBe(rotated.body.apiKey);
    const again = await ask(`POST ${at}/keys/${rotated.body.id}/rotate`, { body: { overlap: '0s' } });
    expect(again.body).toMatchObject({ preset: 'full', name: 'default' });
    await expect
      .poll(async () => (await ask('GET /api/v1/errors', { key: rotated.body.apiKey })).status)
      .toBe(401);
    expect((await ask('GET /api/v1/errors', { key: again.body.key })).status).toBe(200);
    expect((await ask(`POST ${at}/keys/${rotated.body.id}/rotate`)).status).toBe(422);
    expect((await ask(`POST ${at}/keys/${again.body.id}/rotate`, { body: { overlap: 'soon' } })).status).toBe(
      400,
    );
    expect((await ask(`POST ${at}/keys/key_unknown/rotate`)).status).toBe(404);
  });

  test('are rotated once each, so that none inherits the end of an overlap', async () => {
    const { ask, projectRef } = await sharedInstallation();
    const at = `/api/v1/projects/${projectRef}/stg`;
    const created = await ask(`POST ${at}/keys`, { body: { name: 'x' } });
    const rotate = () => ask(`POST ${at}/keys/${created.body.id}/rotate`);
    const both = await Promise.all([rotate(), rotate()]);
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 422]);
    expect(both.find(({ status }) => status === 422)?.body.error).toContain('already been rotated');
    expect(both.find(({ status }) => status === 200)?.body.expiresAt).toBeUndefined();
    // Two rotations of the environment's key at once: the second one rotates the key that the first one created.
    const prod = `/api/v1/projects/${projectRef}/prod`;
    await Promise.all([1, 2].map(() => ask(`POST ${prod}/regenerate-api-key`)));
    const { data } = (await ask(`GET ${prod}/keys`)).body as { data: { expiresAt?: string }[] };
    expect(data.map(({ expiresAt }) => expiresAt === undefined)).toEqual([false, false, true]);
  });

  test('that expire last are shown to tools and regenerated', async () => {
    const { ask, projectRef, sql, keys } = await installation();
    const at = `/api/v1/projects/${projectRef}/stg`;
    const endingIn = (ms: number, name: string) =>
      ask(`POST ${at}/keys`, {
        body: {
          name,
          expiresAt: ms === Infinity ? '9999-12-31T23:59:59Z' : new Date(Date.now() + ms).toISOString(),
        },
      });
    const [soon, later] = [await endingIn(60_000, 'soon'), await endingIn(3_600_000, 'later')];
    await sql`update secret_keys set revoked_at = now() where last_four = ${keys.stg.slice(-4)}`;
    expect((await ask(`GET ${at}`)).body.apiKey).toBe(later.body.key);
    await sql`update secret_keys set expires_at = now() - interval '1 second' where id = ${soon.body.id}`;
    expect((await ask(`POST ${at}/regenerate-api-key`)).status).toBe(200);
    await sql`update secret_keys set revoked_at = now() where preset = 'full'`;
    expect(await ask(`POST ${at}/regenerate-api-key`)).toMatchObject({
      status: 404,
      body: { error: expect.stringContaining('Create a new one') as string },
    });
    // An equally long lifetime would end after the last day that every client can read.
    const last = await endingIn(Infinity, 'last');
    const rotated = await ask(`POST ${at}/keys/${last.body.id}/rotate`);
    expect(rotated.body.expiresAt).toMatch(/^9999-12-31/);
  });
});

describe('personal access tokens', () => {
  test('are created, listed without their text, and revoked by their user alone', async () => {
    const { ask, userWith } = await sharedInstallation();
    const created = await ask('POST /api/v1/tokens', { body: { name: 'laptop' } });
    const { id, token } = created.body as { id: string; token: string };
    expect(token).toMatch(/^svc_pat_/);
    expect((await ask('GET /api/v1/tokens', { key: token })).body.data).toHaveLength(2);
    expect(JSON.stringify((await ask('GET /api/v1/tokens')).body)).not.toContain(token);
    const other = await userWith('admin');
    expect((await ask(`POST /api/v1/tokens/${id}/revoke`, { key: other.token })).status).toBe(404);
    expect((await ask(`POST /api/v1/tokens/${id}/revoke`, { key: token })).status).toBe(200);
    await expect.poll(async () => (await ask('GET /api/v1/tokens', { key: token })).status).toBe(401);
    const past = { name: 'x', expiresAt: '2020-01-01T00:00:00.000Z' };
    expect((await ask('POST /api/v1/tokens', { body: past })).status).toBe(422);
  });

  test('that expire create none that outlives them, and none when they have ended', async () => {
    const { ask, sql } = await installation();
    const at = (ms: number) => new Date(Date.now() + ms).toISOString();
    const expiresAt = at(60_000);
    const make = (key: string | undefined, more: object = {}) =>
      ask('POST /api/v1/tokens', { key, body: { name: 'x', ...more } });
    const { token } = (await make(undefined, { expiresAt })).body as { token: string };
    expect(await make(token)).toMatchObject({ status: 200, body: { expiresAt } });
    const sooner = at(50_000);
    const created = await make(token, { expiresAt: sooner });
    expect(created).toMatchObject({ status: 200, body: { expiresAt: sooner } });
    expect(await make(token, { expiresAt: at(61_000) })).toMatchObject({
      status: 422,
      body: { error: expect.stringContaining(expiresAt) as string },
    });
    expect((await make(created.body.token)).body.expiresAt).toBe(sooner);
    // A process that has not been notified of its end yet lets it create nothing permanent.
    await sql`update personal_access_tokens set revoked_at = now() where expires_at = ${sooner}`;
    expect((await make(created.body.token)).status).toBe(401);
    expect((await make(undefined)).body.expiresAt).toBeUndefined();
  });
});
