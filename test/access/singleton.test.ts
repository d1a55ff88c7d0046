import { expect, test } from 'vitest';
import { installation } from './installation.ts';

const trigger = 'POST /api/v1/tasks/send/trigger';
const replace = { singleton: { onConflict: 'replace' } };

test('a caller that may only trigger cancels no run by replacing it, by any route', async () => {
  const { ask, keys, sql } = await installation();
  const { body } = await ask('POST /api/v1/auth/public-tokens', {
    key: keys.prod,
    body: { scopes: ['trigger:tasks:send', 'batchTrigger:tasks:send'] },
  });
  const key = body.token as string;
  const { body: live } = await ask(trigger, { key: keys.prod, body: { options: replace } });

  const refused = {
    status: 403,
    body: { error: expect.stringContaining('replacing cancels runs') as string },
  };
  expect(await ask(trigger, { key, body: { options: replace } })).toMatchObject(refused);
  const item = { task: 'send', options: replace };
  expect(await ask('POST /api/v1/tasks/trigger-many', { key, body: { items: [item] } })).toMatchObject({
    status: 200,
    body: { results: [{ status: 403 }] },
  });
  expect(await ask('POST /api/v2/tasks/batch', { key, body: { items: [item] } })).toMatchObject(refused);
  const opened = await ask('POST /api/v3/batches', { key, body: { runCount: 1 } });
  const uploaded = await ask(`POST /api/v3/batches/${opened.body.id}/items`, {
    key,
    body: `${JSON.stringify({ index: 0, ...item })}\n`,
    headers: { 'content-type': 'application/x-ndjson' },
  });
  expect(uploaded.status).toBe(403);

  expect(await sql`select id from runs where status is null`).toEqual([{ id: live.id }]);
  // Reusing it requires only permission to trigger, and a key may replace it.
  expect(await ask(trigger, { key, body: { options: { singleton: {} } } })).toMatchObject({
    body: { id: live.id, isCached: true },
  });
  await ask(trigger, { key: keys.prod, body: { options: replace } });
  expect(await sql`select status from runs where id = ${live.id}`).toEqual([{ status: 'CANCELED' }]);
});
