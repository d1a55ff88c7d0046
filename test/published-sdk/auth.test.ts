import { auth, configure, runs, tasks, TriggerClient } from '@trigger.dev/sdk';
import { describe, expect, test } from 'vitest';
import { testServer } from '../support/server.ts';

/** The SDK treats keys of one form as root keys, with which it signs tokens itself. With keys of the other form it requests tokens. */
describe.each([
  ['svc_', 'signs'],
  ['tr_', 'requests'],
])('the published SDK with a %s key, which %s tokens', (marker) => {
  const keyOf = (key: string) => key.replace('svc_', marker);

  test('creates public tokens that give access to the objects in their scopes', async () => {
    const server = await testServer();
    configure({ baseURL: server.url, accessToken: keyOf(server.keys.prod) });
    const [mine, other] = [
      await tasks.trigger('send', {}, { tags: 'org:42' }),
      await tasks.trigger('send', {}),
    ];
    const byRun = await auth.createPublicToken({ scopes: { read: { runs: [mine.id] } } });
    const byTag = await auth.createPublicToken({
      scopes: { read: { tags: 'org:42' } },
      expirationTime: '1h',
    });
    const all = await auth.createPublicToken({ scopes: { read: { runs: true } } });
    const status = async (id: string, key: string) =>
      (await server.ask(`/api/v3/runs/${id}`, { key })).status;
    for (const key of [byRun, byTag]) {
      expect([await status(mine.id, key), await status(other.id, key)]).toEqual([200, 403]);
    }
    expect([await status(mine.id, all), await status(other.id, all)]).toEqual([200, 200]);
    expect((await server.ask('/api/v1/errors', { key: all })).status).toBe(403);
    const past = await auth
      .createPublicToken({ scopes: { read: { runs: true } }, expirationTime: new Date(Date.now() - 1_000) })
      .catch(() => 'refused');
    if (past !== 'refused') expect(await status(mine.id, past)).toBe(401);
  });

  test('creates trigger tokens, for one use and for many', async () => {
    const server = await testServer();
    configure({ baseURL: server.url, accessToken: keyOf(server.keys.prod) });
    const once = await auth.createTriggerPublicToken('send');
    const many = await auth.createTriggerPublicToken(['send', 'other'], { multipleUse: true });
    const trigger = (task: string, token: string) =>
      auth.withAuth({ accessToken: token }, () => tasks.trigger(task, { n: 1 }));
    const first = await trigger('send', once);
    expect(first.id).toMatch(/^run_/);
    // The token of the handle gives access to the run.
    const seen = await auth.withAuth({ accessToken: first.publicAccessToken }, () => runs.retrieve(first.id));
    expect(seen.id).toBe(first.id);
    await expect(trigger('send', once)).rejects.toMatchObject({ status: 422 });
    expect((await trigger('send', many)).id).not.toBe((await trigger('other', many)).id);
    await expect(trigger('third', many)).rejects.toMatchObject({ status: 403 });
    // Outside of withAuth it is the key again.
    expect((await tasks.trigger('third', {})).id).toMatch(/^run_/);
  });

  test('isolates clients of different environments and branches', async () => {
    const server = await testServer();
    await server.ask(`/api/v1/projects/${server.projectRef}/branches`, {
      method: 'POST',
      key: server.personalAccessToken,
      body: { branch: 'feat/x', env: 'preview' },
    });
    const [prod, preview] = [
      new TriggerClient({ baseURL: server.url, accessToken: keyOf(server.keys.prod) }),
      new TriggerClient({
        baseURL: server.url,
        accessToken: keyOf(server.keys.preview),
        previewBranch: 'feat/x',
      }),
    ];
    const [inProd, inPreview] = await Promise.all([
      prod.tasks.trigger('send', {}),
      preview.tasks.trigger('send', {}),
    ]);
    expect((await preview.runs.retrieve(inPreview.id)).id).toBe(inPreview.id);
    expect((await server.ask(`/api/v3/runs/${inPreview.id}`)).status).toBe(404);
    expect((await server.ask(`/api/v3/runs/${inProd.id}`)).status).toBe(200);
    const token = await preview.auth.createPublicToken({ scopes: { read: { runs: inPreview.id } } });
    expect((await server.ask(`/api/v3/runs/${inPreview.id}`, { key: token })).status).toBe(200);
  });
});
