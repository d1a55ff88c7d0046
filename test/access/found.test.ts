import { describe, expect, test } from 'vitest';
import { installation, sharedInstallation, type SharedInstallation } from './installation.ts';

const config = (basePayload: object = {}) => ({ triggerConfig: { basePayload } });

async function keysOf({ keyWith }: SharedInstallation) {
  const of = (task: string) =>
    keyWith(['trigger', 'batchTrigger', 'read', 'write'].map((action) => `${action}:tasks:${task}`));
  return { mine: await of('mine'), theirs: await of('theirs') };
}

describe('objects found by a name that the caller chose are returned only with access to them', () => {
  test('a session of another task keeps its configuration and returns no token', async () => {
    const installed = await installation();
    const { ask, keys, sql } = installed;
    const { mine, theirs } = await keysOf(installed);
    const open = 'POST /api/v1/sessions';
    const session = (taskIdentifier: string, secret: string) => ({
      type: 'chat',
      taskIdentifier,
      externalId: 'room-1',
      ...config({ secret }),
    });
    const created = await ask(open, { key: theirs, body: session('theirs', 'first') });
    expect(created.status).toBe(201);
    const stored = async () => (await sql`select task, trigger_config, run_id from sessions`)[0];
    const before = await stored();

    const stranger = await ask(open, { key: mine, body: session('mine', 'evil') });
    expect([stranger.status, stranger.body.publicAccessToken]).toEqual([403, undefined]);
    expect(await stored()).toEqual(before);

    // A caller with access to both tasks gets the cause; a retry would not help.
    const full = await ask(open, { key: keys.prod, body: session('mine', 'evil') });
    expect([full.status, full.headers.get('x-should-retry'), full.body.error]).toEqual([
      409,
      'false',
      expect.stringContaining('"theirs"'),
    ]);
    expect(await stored()).toEqual(before);
    expect(await sql`select from runs where task = 'mine'`).toHaveLength(0);

    const again = await ask(open, { key: theirs, body: session('theirs', 'second') });
    expect([again.status, again.body.isCached]).toEqual([200, true]);
    expect((await stored())?.['trigger_config']).toEqual({ basePayload: { secret: 'second' } });
  });

  test('two tasks that open the same session at the same time create one, and the other is rejected', async () => {
    const installed = await installation();
    const { ask, sql } = installed;
    const { mine, theirs } = await keysOf(installed);
    const open = (key: string, taskIdentifier: string) =>
      ask('POST /api/v1/sessions', {
        key,
        body: { type: 'chat', taskIdentifier, externalId: 'race', ...config({ of: taskIdentifier }) },
      });
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => (index % 2 ? open(mine, 'mine') : open(theirs, 'theirs'))),
    );
    const [row] = await sql<
      { task: string; of: string }[]
    >`select task, trigger_config->'basePayload'->>'of' as of from sessions`;
    expect(row?.of).toBe(row?.task);
    const refused = answers.filter(({ status }) => status === 403);
    expect(refused).toHaveLength(5);
    expect(answers.filter(({ body }) => body.taskIdentifier === row?.task)).toHaveLength(5);
  });

  test('a batch of another task is not found by its idempotency key', async () => {
    const installed = await sharedInstallation();
    const { ask, keys } = installed;
    const { mine, theirs } = await keysOf(installed);
    const create = (key: string, task: string | undefined, idempotencyKey: string) =>
      ask('POST /api/v3/batches', {
        key,
        body: { runCount: 1, idempotencyKey, ...(task !== undefined && { taskIdentifiers: [task] }) },
      });
    const fill = (key: string, id: string, task: string) =>
      ask(`POST /api/v3/batches/${id}/items`, {
        key,
        headers: { 'content-type': 'application/x-ndjson' },
        body: `${JSON.stringify({ index: 0, task, payload: {} })}\n`,
      });
    // While it waits for its items, and when it is filled.
    for (const name of ['declared', 'not declared']) {
      const task = name === 'declared' ? 'theirs' : undefined;
      const created = await create(theirs, task, name);
      expect(created.status).toBe(202);
      for (const isFilled of [false, true]) {
        if (isFilled) expect((await fill(theirs, created.body.id, 'theirs')).status).toBe(200);
        const stranger = await create(mine, 'mine', name);
        expect([name, isFilled, stranger.status]).toEqual([name, isFilled, 403]);
        expect(stranger.headers.get('x-trigger-jwt')).toBeNull();
        const full = await create(keys.prod, 'mine', name);
        expect(full.body).toMatchObject({ id: created.body.id, isCached: isFilled });
        if (isFilled || task)
          expect((await create(theirs, 'theirs', name)).body).toMatchObject({ id: created.body.id });
      }
    }
  });
});
