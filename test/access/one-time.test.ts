import { describe, expect, test } from 'vitest';
import { promote } from '../support/promote.ts';
import { installation, sharedInstallation, type SharedInstallation } from './installation.ts';

const trigger = 'POST /api/v1/tasks/send/trigger';

const runsIn = async ({ sql, projectRef }: SharedInstallation): Promise<number> => {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from runs where env in (
      select e.id from environments e join projects p on p.id = e.project_id where p.ref = ${projectRef})`;
  return row?.count ?? 0;
};

async function oneTimeToken({ ask, keys }: SharedInstallation, expirationTime = '15m'): Promise<string> {
  const created = await ask('POST /api/v1/auth/public-tokens', {
    key: keys.prod,
    body: { scopes: ['trigger:tasks:send'], oneTimeUse: true, expirationTime },
  });
  return created.body.token as string;
}

describe('a one-time token', () => {
  test('creates one run; the second use is 422', async () => {
    const installed = await sharedInstallation();
    const key = await oneTimeToken(installed);
    expect(await installed.ask(trigger, { key, body: {} })).toMatchObject({ status: 200 });
    expect(await installed.ask(trigger, { key, body: {} })).toMatchObject({
      status: 422,
      body: { error: expect.stringContaining('already been used') as string },
    });
    expect(await runsIn(installed)).toBe(1);
  });

  test('used many times at once, by two server processes, creates one run', async () => {
    const installed = await installation();
    const other = await installed.another();
    const key = await oneTimeToken(installed);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        installed.ask(trigger, { key, body: {}, ...(index % 2 === 1 && { server: other }) }),
      ),
    );
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([200, ...Array.from({ length: 19 }, () => 422)]);
    expect(await runsIn(installed)).toBe(1);
  });

  test('is not used up by a rejected request, nor by a key that resolves to an old run', async () => {
    const installed = await sharedInstallation();
    const { ask, keys } = installed;
    const options = { idempotencyKey: 'once' };
    const first = await ask(trigger, { key: keys.prod, body: { options } });
    const key = await oneTimeToken(installed);
    for (const body of [
      '{',
      { options: { maxAttempts: 'x' } },
      { options: { delay: 'soon' } },
      { options: { lockToVersion: '20200101.1' } },
      { options: { tags: Array.from({ length: 11 }, (_, i) => `t${i}`) } },
    ]) {
      expect([400, 422]).toContain((await ask(trigger, { key, body })).status);
    }
    expect((await ask('POST /api/v1/tasks/other/trigger', { key, body: {} })).status).toBe(403);
    expect(await ask(trigger, { key, body: { options } })).toMatchObject({
      status: 200,
      body: { id: first.body.id, isCached: true },
    });
    expect(await ask(trigger, { key, body: {} })).toMatchObject({ status: 200, body: { isCached: false } });
    expect((await ask(trigger, { key, body: {} })).status).toBe(422);
  });

  test('creates one run even in a list, and never two', async () => {
    const installed = await sharedInstallation();
    const { ask } = installed;
    const key = await oneTimeToken(installed);
    const many = 'POST /api/v1/tasks/trigger-many';
    const item = { task: 'send' };
    expect((await ask(many, { key, body: { items: [item, item] } })).status).toBe(422);
    expect((await ask(many, { key, body: { items: [item] } })).body.results).toEqual([
      { id: expect.any(String) as string, isCached: false },
    ]);
    expect((await ask(many, { key, body: { items: [item] } })).body.results).toEqual([
      { status: 422, code: 'token_used', error: expect.stringContaining('already been used') as string },
    ]);
    expect(await runsIn(installed)).toBe(1);
  });

  test('adds one payload to the collecting run of any creator, and does not read that run', async () => {
    const { ask, keys, server } = await sharedInstallation();
    const tasks = [{ id: 'send', filePath: 'send.ts', batch: { maxSize: 100, maxWaitMs: 3_600_000 } }];
    const body = { contentHash: 'b'.repeat(64), tasks };
    expect((await ask('POST /runner/v1/versions', { key: keys.prod, body })).status).toBe(200);
    await promote(server.url, keys.prod);
    const opened = await ask(trigger, { key: keys.prod, body: { payload: 'secret of another' } });
    expect(opened.headers.get('x-trigger-jwt')).toMatch(/\./);
    const created = await ask('POST /api/v1/auth/public-tokens', {
      key: keys.prod,
      body: { scopes: ['trigger:tasks:send'], oneTimeUse: true },
    });
    const key = created.body.token as string;
    const added = await ask(trigger, { key, body: { payload: 1 } });
    expect(added).toMatchObject({ status: 200, body: { id: opened.body.id } });
    expect(added.headers.get('x-trigger-jwt')).toBeNull();
    expect((await ask(trigger, { key, body: { payload: 2 } })).status).toBe(422);
    const run = `GET /api/v3/runs/${opened.body.id as string}`;
    expect((await ask(run, { key })).status).toBe(403);
    expect((await ask(run, { key: keys.prod })).body).toMatchObject({ payload: ['secret of another', 1] });
  });

  test('can be requested by its claim; any other value is an error', async () => {
    const { ask, keys, projectRef, token } = await sharedInstallation();
    const signs: readonly (readonly [request: string, key: string])[] = [
      ['POST /api/v1/auth/jwt', keys.prod],
      [`POST /api/v1/projects/${projectRef}/prod/jwt`, token],
    ];
    const scopes = ['trigger:tasks:send'];
    for (const [request, key] of signs) {
      const created = await ask(request, { key, body: { claims: { scopes, otu: true } } });
      const statuses = [];
      for (let n = 0; n < 2; n++)
        statuses.push((await ask(trigger, { key: created.body.token, body: {} })).status);
      expect([request, statuses]).toEqual([request, [200, 422]]);
      for (const otu of [false, 1, 'true', null])
        expect(await ask(request, { key, body: { claims: { scopes, otu } } })).toMatchObject({
          status: 400,
          body: { error: expect.stringContaining('claims.otu') as string },
        });
      for (const name of ['otu', 'oneTimeUse'])
        expect(await ask(request, { key, body: { claims: { scopes }, [name]: true } })).toMatchObject({
          status: 400,
          body: { error: expect.stringContaining('claims.otu') as string },
        });
    }
    for (const otu of [true, false, null])
      expect(
        await ask('POST /api/v1/auth/public-tokens', { key: keys.prod, body: { scopes, otu } }),
      ).toMatchObject({ status: 400, body: { error: expect.stringContaining('oneTimeUse') as string } });
  });

  test('writes nowhere else', async () => {
    const { ask, keys, sign, publicIdOf } = await sharedInstallation();
    const key = sign(keys.prod, { sub: await publicIdOf('prod'), otu: true, scopes: ['admin'] });
    expect((await ask('POST /api/v1/errors/error_x/resolve', { key, body: {} })).status).toBe(403);
    expect((await ask('GET /api/v1/errors', { key })).status).toBe(200);
  });
});
