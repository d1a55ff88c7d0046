import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { lockWaiters } from '../../../../test/support/locks.ts';
import { batchServer, ownBatchServer } from './testing/batch-server.ts';

describe('the idempotency key of a batch', () => {
  test('resolves to the batch that it opened, which needs no further items', async () => {
    const { ask, fill, keys, open, retrieve } = await batchServer();
    const body = {
      runCount: 1,
      idempotencyKey: 'k',
      idempotencyKeyOptions: { key: 'mine', scope: 'global' },
    };
    const id = await open(body);
    await fill(id, [{ index: 0 }]);
    const again = await ask('POST /api/v3/batches', { key: keys.prod, body });
    expect(again).toMatchObject({
      status: 200,
      body: { id, runCount: 1, isCached: true, idempotencyKey: 'k' },
    });
    expect((await retrieve(id)).body.idempotencyKey).toBe('mine');
    const elsewhere = await ask('POST /api/v3/batches', { key: keys.stg, body });
    expect(elsewhere).toMatchObject({ status: 202, body: { isCached: false } });
  });

  test('resolves to a batch that still waits for its items, which any caller with the key may fill', async () => {
    const { ask, fill, keys, open, retrieve } = await batchServer();
    const body = { runCount: 2, idempotencyKey: 'k' };
    const id = await open(body);
    await fill(id, [{ index: 1 }]);
    const again = await ask('POST /api/v3/batches', { key: keys.prod, body });
    expect(again).toMatchObject({ status: 202, body: { id, isCached: false } });
    // A different call gets a separate batch, so the old one will never be filled.
    const other = await ask('POST /api/v3/batches', { key: keys.prod, body: { ...body, runCount: 1 } });
    expect(other.body.id).not.toBe(id);
    expect((await retrieve(id)).body.status).toBe('ABORTED');
    await fill(other.body.id, [{ index: 0 }]);
    expect(await open({ ...body, runCount: 7 })).toBe(other.body.id);
  });

  test('opens one batch for thirty concurrent calls to two processes', async () => {
    const { another, ask, keys, sql } = await ownBatchServer();
    const other = await another();
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        ask('POST /api/v3/batches', {
          key: keys.prod,
          body: { runCount: 1, idempotencyKey: 'k' },
          ...(n % 2 === 1 && { server: other }),
        }),
      ),
    );
    expect(new Set(answers.map((answer) => `${answer.status} ${answer.body.id}`)).size).toBe(1);
    expect(await sql`select from batches`).toHaveLength(1);
  });

  test('handles thirty concurrent calls for different batches, and resolves to one of them', async () => {
    const { another, ask, keys, sql } = await ownBatchServer();
    const other = await another();
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        ask('POST /api/v3/batches', {
          key: keys.prod,
          body: { runCount: 1 + (n % 3), idempotencyKey: 'k' },
          ...(n % 2 === 1 && { server: other }),
        }),
      ),
    );
    expect(answers.map(({ status, body }) => [status, body.runCount])).toEqual(
      answers.map((_, n) => [202, 1 + (n % 3)]),
    );
    const open = await sql`select id from batches where aborted_at is null`;
    expect(open).toHaveLength(1);
    expect(await sql`select id from batches where idempotency_key is not null`).toEqual(open);
  });

  test('expires', async () => {
    const { fill, open, server } = await ownBatchServer();
    const body = { runCount: 1, idempotencyKey: 'k', idempotencyKeyTTL: '1h' };
    const id = await open(body);
    await fill(id, [{ index: 0 }]);
    expect(await open(body)).toBe(id);
    server.shiftTime(3_600_001);
    expect(await open(body)).not.toBe(id);
  });
});

describe('a request that is sent again', () => {
  test('does not open a second batch, even in another process', async () => {
    const { another, ask, keys, sql } = await ownBatchServer();
    const other = await another();
    const headers = { 'x-trigger-request-idempotency-key': randomUUID() };
    const sent = (request: string, body: unknown) =>
      Promise.all(
        Array.from({ length: 10 }, (_, n) =>
          ask(request, { key: keys.prod, body, headers, ...(n % 2 === 1 && { server: other }) }),
        ),
      );
    const opened = await sent('POST /api/v3/batches', { runCount: 3 });
    expect(new Set(opened.map(({ status, body }) => `${status} ${body.id} ${body.isCached}`)).size).toBe(1);
    const whole = await sent('POST /api/v2/tasks/batch', { items: [{ task: 'a' }, { task: 'b' }] });
    expect(new Set(whole.map(({ status, body }) => `${status} ${body.id} ${body.isCached}`)).size).toBe(1);
    expect(whole[0]?.status).toBe(202);
    expect(await sql`select from batches`).toHaveLength(2);
    expect(await sql`select from runs`).toHaveLength(2);
  });

  test.each([
    ['POST /api/v3/batches', { runCount: 1, taskIdentifiers: ['a'] }],
    ['POST /api/v2/tasks/batch', { items: [{ task: 'a' }] }],
  ])(
    'with a one-time token while the first is in progress gets the same response: %s',
    async (request, body) => {
      const { ask, keys, sql } = await ownBatchServer();
      const created = await ask('POST /api/v1/auth/public-tokens', {
        key: keys.prod,
        body: { scopes: ['batchTrigger:tasks:a'], oneTimeUse: true },
      });
      const headers = { 'x-trigger-request-idempotency-key': randomUUID() };
      const send = () => ask(request, { key: created.body.token, body, headers });
      const waiting = () => lockWaiters(sql);
      const { sent } = await sql.begin(async (tx) => {
        // Requests that store a batch block here.
        await tx`lock table batches in share mode`;
        const first = send();
        await expect.poll(waiting, { timeout: 20_000 }).toHaveLength(1);
        const second = send();
        await expect.poll(waiting, { timeout: 20_000 }).toHaveLength(2);
        return { sent: Promise.all([first, second]) };
      });
      const [first, second] = await sent;
      expect(first.status).toBe(202);
      expect([second.status, second.body]).toEqual([202, first.body]);
      // A different request counts as another use.
      headers['x-trigger-request-idempotency-key'] = randomUUID();
      expect((await send()).status).toBe(422);
    },
  );
});

describe('access to batches', () => {
  test('is by task, by batch, or unrestricted', async () => {
    const server = await ownBatchServer();
    const { ask, fill, keys, keyWith, open, sql } = server;
    const create = async (scopes: string[], taskIdentifiers?: string[]) =>
      (
        await ask('POST /api/v3/batches', {
          key: await keyWith(scopes),
          body: { runCount: 1, taskIdentifiers },
        })
      ).status;
    expect(await create(['batchTrigger:tasks'])).toBe(202);
    expect(await create(['write:batch'], ['any'])).toBe(202);
    expect(await create(['batchTrigger:tasks:a'], ['a'])).toBe(202);
    expect(await create(['batchTrigger:tasks:a'], ['a', 'b'])).toBe(403);
    // Its tasks are not known yet: permission is checked item by item.
    expect(await create(['batchTrigger:tasks:a'])).toBe(202);
    expect(await create(['trigger:tasks:a', 'read:tasks:b'])).toBe(403);
    expect(await create(['trigger:tasks'])).toBe(403);
    expect(await create(['read:batch'])).toBe(403);

    const id = await open({ runCount: 3 });
    const fills = async (scopes: string[], items: { index: number; task: string }[], batch = id) => {
      const answer = await fill(batch, items, await keyWith(scopes));
      return answer.status;
    };
    expect(await fills(['batchTrigger:tasks:a'], [{ index: 0, task: 'a' }])).toBe(200);
    expect(await fills(['batchTrigger:tasks:a'], [{ index: 1, task: 'b' }])).toBe(403);
    expect(await fills(['batchTrigger:tasks:a'], [])).toBe(403);
    expect(await fills(['batchTrigger:tasks:a'], [{ index: 0, task: 'a' }], 'batch_x')).toBe(403);
    expect(await fills([`write:batch:${id}`], [{ index: 1, task: 'b' }])).toBe(200);
    expect(await fills(['write:batch:batch_x'], [{ index: 2, task: 'b' }])).toBe(403);
    expect(await sql`select from runs`).toHaveLength(2);
    expect((await fill(id, [{ index: 2 }], keys.stg)).status).toBe(422);

    const read = async (scopes: string[], path = `/api/v2/batches/${id}`) =>
      (await ask(`GET ${path}`, { key: await keyWith(scopes) })).status;
    expect(await read([`read:batch:${id}`])).toBe(200);
    expect(await read(['read:batch'])).toBe(200);
    expect(await read(['read:runs'])).toBe(200);
    expect(await read(['read:batch:batch_x'])).toBe(403);
    expect(await read(['read:batch:batch_x'], '/api/v2/batches/batch_y')).toBe(403);
    expect(await read([`read:batch:${id}`], `/api/v1/batches/${id}/results`)).toBe(200);
    const { runs } = (await server.retrieve(id)).body;
    expect(await read([`read:batch:${id}`], `/api/v3/runs/${runs[0]}`)).toBe(200);
    expect((await ask(`GET /api/v2/batches/${id}`, { key: keys.stg })).status).toBe(404);
  });

  test('with a one-time token is limited to one batch, from its creation to its last item', async () => {
    const { ask, fill, keys, open, sql } = await ownBatchServer();
    const created = await ask('POST /api/v1/auth/public-tokens', {
      key: keys.prod,
      body: { scopes: ['batchTrigger:tasks:a'], oneTimeUse: true },
    });
    const { token } = created.body;
    const other = await open({ runCount: 1 });
    expect((await fill(other, [{ index: 0, task: 'a' }], token)).status).toBe(422);
    const body = { runCount: 2, taskIdentifiers: ['a'] };
    const opened = await ask('POST /api/v3/batches', { key: token, body });
    expect(opened.status).toBe(202);
    expect((await ask('POST /api/v3/batches', { key: token, body })).status).toBe(422);
    const whole = { items: [{ task: 'a' }] };
    expect((await ask('POST /api/v2/tasks/batch', { key: token, body: whole })).status).toBe(422);
    const { id } = opened.body;
    expect((await fill(id, [{ index: 0, task: 'a' }], token)).body).toMatchObject({ sealed: false });
    expect(
      (
        await fill(
          id,
          [0, 1].map((index) => ({ index, task: 'a' })),
          token,
        )
      ).body,
    ).toMatchObject({ sealed: true });
    expect((await fill(other, [{ index: 0, task: 'a' }], token)).status).toBe(422);
    expect(await sql`select from runs`).toHaveLength(2);
  });

  test('includes a token with which a browser may fill the batch', async () => {
    const { ask, fill, keys } = await batchServer();
    const create = (headers: Record<string, string>) =>
      ask('POST /api/v3/batches', { key: keys.prod, body: { runCount: 1 }, headers });
    const plain = await create({});
    const readable = plain.headers.get('x-trigger-jwt') ?? '';
    expect((await ask(`GET /api/v2/batches/${plain.body.id}`, { key: readable })).status).toBe(200);
    expect((await fill(plain.body.id, [{ index: 0 }], readable)).status).toBe(403);
    const browser = await create({ 'x-trigger-client': 'browser' });
    const writable = browser.headers.get('x-trigger-jwt') ?? '';
    expect((await fill(browser.body.id, [{ index: 0 }], writable)).body.sealed).toBe(true);
    expect((await fill(plain.body.id, [{ index: 0 }], writable)).status).toBe(403);
  });

  test('is rate limited by runs if configured, and the error contains the reset time', async () => {
    const { ask, keys } = await ownBatchServer({
      rateLimits: { batchRuns: { secretKey: { burst: 10, perSecond: 1 } } },
    });
    const create = (runCount: number, key = keys.prod) =>
      ask('POST /api/v3/batches', { key, body: { runCount } });
    const first = await create(7);
    expect([first.status, first.headers.get('x-ratelimit-remaining')]).toEqual([202, '3']);
    const refused = await create(8);
    expect(refused).toMatchObject({
      status: 429,
      body: { error: expect.stringContaining('Batch rate limit exceeded') },
    });
    const reset = Number(refused.headers.get('x-ratelimit-reset'));
    expect(reset - Date.now()).toBeGreaterThan(1_000);
    expect(reset - Date.now()).toBeLessThanOrEqual(5_000);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await create(8, keys.stg)).status).toBe(202);
  });
});

test('many complete batches sent at once do not wait for each other’s connections', async () => {
  const { ask, keys, register, sql } = await ownBatchServer();
  await register('send');
  const [version] = await sql<{ version: string }[]>`select version from versions`;
  const body = { items: [{ task: 'send', options: { lockToVersion: version?.version } }] };
  const waiting = () => lockWaiters(sql);
  const { sent } = await sql.begin(async (tx) => {
    // As many requests block here as the server has connections, each in its own transaction.
    await tx`lock table batches in share mode`;
    const all = Array.from({ length: 16 }, () => ask('POST /api/v2/tasks/batch', { key: keys.prod, body }));
    await expect.poll(waiting, { timeout: 20_000 }).toHaveLength(8);
    return { sent: Promise.all(all) };
  });
  expect(new Set((await sent).map(({ status }) => status))).toEqual(new Set([202]));
});
