import { describe, expect, test } from 'vitest';
import { installation, type Installation } from './installation.ts';

/** A run of `mine` with a tag and a batch. */
async function setUp() {
  const installed = await installation();
  const { ask, keys } = installed;
  const key = keys.prod;
  const { body: batch } = await ask('POST /api/v3/batches', { key, body: { runCount: 1 } });
  await ask(`POST /api/v3/batches/${batch.id}/items`, {
    key,
    headers: { 'content-type': 'application/x-ndjson' },
    body: `${JSON.stringify({ index: 0, task: 'mine', payload: {}, options: { tags: ['t'], delay: '1h' } })}\n`,
  });
  const { body: whole } = await ask(`GET /api/v2/batches/${batch.id}`, { key });
  return { ...installed, batch: batch.id as string, run: whole.runs[0] as string };
}

const child = async ({ ask, keys }: Installation, task: string, parentRunId?: string) =>
  (await ask(`POST /api/v1/tasks/${task}/trigger`, { key: keys.prod, body: { options: { parentRunId } } }))
    .body.id as string;

describe('a scope of a tag or a batch', () => {
  test(
    'reads runs and changes none, and one of the run or its task does both',
    { timeout: 60_000 },
    async () => {
      const installed = await setUp();
      const { ask, run, batch, keys, keyWith, sign, publicIdOf } = installed;
      const prod = await publicIdOf('prod');
      const writes: [request: string, body: object][] = [
        [`POST /api/v1/runs/${run}/reschedule`, { delay: '2h' }],
        [`POST /api/v1/runs/${run}/tags`, { tags: 'more' }],
        [`PUT /api/v1/runs/${run}/metadata`, { metadata: { a: 1 } }],
        [`PUT /realtime/v1/streams/${run}/self/s`, {}],
        [`POST /realtime/v1/streams/${run}/self/s/append`, {}],
        [`POST /realtime/v1/streams/${run}/self/s/records`, { records: [{ body: 'x' }] }],
        [`POST /api/v1/runs/${run}/replay`, {}],
        ['POST /api/v1/tasks/other/trigger', { options: { parentRunId: run } }],
        [`POST /api/v2/runs/${run}/cancel`, {}],
      ];
      const other = ['trigger:tasks:other'];
      for (const scope of ['write:batch', `write:batch:${batch}`, 'write:tags', 'write:tags:t']) {
        const key = await keyWith([scope, ...other]);
        for (const [request, body] of writes) {
          expect([scope, request, (await ask(request, { key, body })).status]).toEqual([scope, request, 403]);
        }
        const token = sign(keys.prod, { sub: prod, scopes: [scope] });
        expect((await ask(`POST /api/v2/runs/${run}/cancel`, { key: token, body: {} })).status).toBe(403);
      }
      for (const scope of [`read:batch:${batch}`, 'read:tags:t']) {
        expect((await ask(`GET /api/v3/runs/${run}`, { key: await keyWith([scope]) })).status).toBe(200);
      }
      for (const scope of [`write:runs:${run}`, 'write:tasks:mine', 'write:runs', 'write:tasks']) {
        const key = await keyWith([scope, ...other]);
        for (const [request, body] of writes.slice(0, -1)) {
          expect([scope, request, (await ask(request, { key, body })).status < 300]).toEqual([
            scope,
            request,
            true,
          ]);
        }
      }
      const key = await keyWith(['write:tasks:mine']);
      expect((await ask(`POST /api/v2/runs/${run}/cancel`, { key, body: {} })).status).toBe(200);
    },
  );
});

describe('through a child', () => {
  test('a key for its task does not change a parent or root of another task', async () => {
    const installed = await setUp();
    const { ask, keyWith, keys } = installed;
    const root = await child(installed, 'root');
    const parent = await child(installed, 'parent', root);
    const own = await child(installed, 'mine', parent);
    const task = (name: string) => ['read', 'write'].map((action) => `${action}:tasks:${name}`);
    const set = [{ type: 'set', key: 'k', value: 1 }];
    const metadata = (key: string, body: object) => ask(`PUT /api/v1/runs/${own}/metadata`, { key, body });
    const metadataOf = async (run: string) =>
      (await ask(`GET /api/v1/runs/${run}/metadata`, { key: keys.prod })).body.metadata as object;
    const stream = (key: string, target: string) =>
      ask(`POST /realtime/v1/streams/${own}/${target}/s/append`, { key, body: 'x' });

    const mine = await keyWith(task('mine'));
    const both = await keyWith([...task('mine'), ...task('parent')]);
    for (const [key, body] of [
      [mine, { parentOperations: set }],
      [mine, { rootOperations: set }],
      [mine, { operations: set, parentOperations: set }],
      [both, { rootOperations: set }],
    ] as const) {
      expect((await metadata(key, body)).status).toBe(403);
    }
    for (const target of ['parent', 'root']) expect((await stream(mine, target)).status).toBe(403);
    expect((await stream(both, 'root')).status).toBe(403);
    expect([await metadataOf(own), await metadataOf(parent), await metadataOf(root)]).toEqual([{}, {}, {}]);

    expect((await metadata(mine, { operations: set, parentOperations: [] })).status).toBe(200);
    expect((await stream(mine, 'self')).status).toBe(200);
    expect((await metadata(both, { parentOperations: set })).status).toBe(200);
    expect((await stream(both, 'parent')).status).toBe(200);
    const all = await keyWith(['write:runs']);
    expect((await metadata(all, { rootOperations: set })).status).toBe(200);
    expect([await metadataOf(parent), await metadataOf(root)]).toEqual([{ k: 1 }, { k: 1 }]);
    // A run without a parent counts as its own parent.
    const alone = await child(installed, 'mine');
    expect(
      (await ask(`PUT /api/v1/runs/${alone}/metadata`, { key: mine, body: { parentOperations: set } }))
        .status,
    ).toBe(200);
  });
});

describe('a packet', () => {
  async function upload({ ask }: Installation, key: string, name: string, content = '"secret"') {
    const { status, body } = await ask(`PUT /api/v2/packets/${encodeURIComponent(name)}`, { key });
    expect(status).toBe(200);
    const put = await fetch(body.presignedUrl as string, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: content,
    });
    await put.body?.cancel();
    return put.status;
  }
  const stored = (payload: string) => ({ payload, options: { payloadType: 'application/store' } });

  test('is named by its uploader, and by callers with permission to read a run that names it', async () => {
    const installed = await setUp();
    const { ask, keys, keyWith, sign, publicIdOf, run } = installed;
    const prod = await publicIdOf('prod');
    const token = (scopes: string[]) => sign(keys.prod, { sub: prod, scopes, jti: Math.random() });
    const trigger = (key: string, name: string, task = 'mine') =>
      ask(`POST /api/v1/tasks/${task}/trigger`, { key, body: stored(name) });

    await upload(installed, keys.prod, 'full.json');
    const theirs = token(['trigger:tasks:theirs']);
    await upload(installed, theirs, 'theirs.json');
    expect((await trigger(theirs, 'theirs.json', 'theirs')).status).toBe(200);
    await upload(installed, theirs, 'waiting.json');
    // The same request again, after its reply was lost.
    expect((await trigger(theirs, 'theirs.json', 'theirs')).status).toBe(200);

    const callers = [
      token(['trigger:tasks:mine']),
      await keyWith(['trigger:tasks:mine', 'batchTrigger:tasks:mine']),
    ];
    for (const key of callers) {
      for (const name of ['full.json', 'theirs.json', 'waiting.json', 'none.json']) {
        const answer = await trigger(key, name);
        expect([name, answer.status]).toEqual([name, 403]);
        expect(answer.headers.get('x-trigger-jwt')).toBeNull();
      }
      const many = await ask('POST /api/v1/tasks/trigger-many', {
        key,
        body: { items: [{ task: 'mine', ...stored('full.json') }] },
      });
      expect(many.body.results).toEqual([{ status: 403, code: 'unauthorized', error: 'Unauthorized' }]);
    }
    const [, restricted = ''] = callers;
    const whole = await ask('POST /api/v2/tasks/batch', {
      key: restricted,
      body: { items: [{ task: 'mine', ...stored('theirs.json') }] },
    });
    expect(whole.status).toBe(403);
    const { body: batch } = await ask('POST /api/v3/batches', {
      key: restricted,
      body: { runCount: 1, taskIdentifiers: ['mine'] },
    });
    const filled = await ask(`POST /api/v3/batches/${batch.id}/items`, {
      key: restricted,
      headers: { 'content-type': 'application/x-ndjson' },
      body: `${JSON.stringify({ index: 0, task: 'mine', ...stored('theirs.json') })}\n`,
    });
    expect(filled.status).toBe(403);
    const operator = await keyWith(['read:tasks:mine', 'write:tasks:mine']);
    const replay = (key: string, body: object) => ask(`POST /api/v1/runs/${run}/replay`, { key, body });
    expect((await replay(operator, { payload: 'full.json', payloadType: 'application/store' })).status).toBe(
      403,
    );

    // Their own packet, any packet for a full key, and packets that they may read anyway.
    for (const key of callers) {
      const name = `own-${callers.indexOf(key)}.json`;
      expect(await upload(installed, key, name)).toBe(200);
      expect((await trigger(key, name)).status).toBe(200);
    }
    expect((await trigger(keys.prod, 'theirs.json')).status).toBe(200);
    const reader = await keyWith(['trigger:tasks:mine', 'read:tasks:theirs']);
    expect((await trigger(reader, 'theirs.json')).status).toBe(200);
    expect((await trigger(await keyWith(['trigger:tasks', 'read:runs']), 'full.json')).status).toBe(200);
    // A run whose payload is stored apart can be replayed unchanged.
    const big = (await trigger(callers[1] ?? '', 'own-1.json')).body.id as string;
    expect((await ask(`POST /api/v1/runs/${big}/replay`, { key: operator, body: {} })).status).toBe(200);
  });

  test('uploaded by another key is not replaced before a run names it', async () => {
    const installed = await setUp();
    const { keys, keyWith, sql } = installed;
    const [first, second] = [await keyWith(['trigger:tasks:one']), await keyWith(['trigger:tasks:other'])];
    expect(await upload(installed, first, 'p.json', '1')).toBe(200);
    expect(await upload(installed, second, 'p.json', '2')).toBe(409);
    const content = async () =>
      (await sql<{ data: Buffer }[]>`select data from packet_pieces`).map(({ data }) => String(data));
    expect(await content()).toEqual(['1']);
    expect(await upload(installed, first, 'p.json', '3')).toBe(200);
    expect(await upload(installed, keys.prod, 'p.json', '4')).toBe(200);
    expect(await content()).toEqual(['4']);
  });
});
