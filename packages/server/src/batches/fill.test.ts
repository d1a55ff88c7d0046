import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lockWaiters } from '../../../../test/support/locks.ts';
import { batchKeeper } from './abort.ts';
import { itemRunId } from './ids.ts';
import { batchServer, ownBatchServer, streamOf, type Item } from './testing/batch-server.ts';
import { numRuns } from '../../../../test/support/long.ts';

const items = (count: number, from = 0): Item[] =>
  Array.from({ length: count }, (_, n) => ({ index: from + n }));

describe('a batch', () => {
  test('is filled in any order, over several uploads, and its runs start together in the order of its items', async () => {
    const { ask, fill, keys, payloads, register, retrieve, sql } = await ownBatchServer();
    await register('send');
    const opened = await ask('POST /api/v3/batches', { key: keys.prod, body: { runCount: 5 } });
    expect(opened).toMatchObject({ status: 202, body: { runCount: 5, isCached: false } });
    const { id } = opened.body;
    expect(id).toMatch(/^batch_[0-9a-z]{24}$/);
    expect((await retrieve(id)).body).toMatchObject({ id, status: 'PENDING', runCount: 5, runs: [] });

    const first = await fill(id, [{ index: 4 }, { index: 0 }, '', { index: 2 }]);
    expect(first).toMatchObject({
      status: 200,
      body: { id, itemsAccepted: 3, itemsDeduplicated: 0, sealed: false, enqueuedCount: 3, expectedCount: 5 },
    });
    const waiting = await retrieve(id);
    expect(waiting.body).toMatchObject({ status: 'PENDING', processing: { errors: [] } });
    expect(waiting.body.runs).toHaveLength(3);
    const [waitingRun] = waiting.body.runs;
    expect((await ask(`GET /api/v1/runs/${waitingRun}/reason`, { key: keys.prod })).body).toMatchObject({
      status: 'QUEUED',
      reason: 'batch_open',
    });
    expect(await sql`select from queued`).toHaveLength(0);

    const second = await fill(id, items(5));
    expect(second.body).toEqual({ id, itemsAccepted: 2, itemsDeduplicated: 3, sealed: true, runCount: 5 });
    expect((await fill(id, items(5))).body).toEqual({
      id,
      itemsAccepted: 0,
      itemsDeduplicated: 0,
      sealed: true,
      runCount: 5,
    });
    const sealed = (await retrieve(id)).body;
    expect(sealed).toMatchObject({ status: 'PENDING', processing: { completedAt: expect.any(String) } });
    expect(sealed.runs).toHaveLength(5);
    expect(await payloads(id)).toEqual([0, 1, 2, 3, 4]);
    const queued = await sql<
      { run_id: string }[]
    >`select run_id from queued order by lane_id, sort_key, run_id`;
    expect(queued.map((row) => row.run_id)).toEqual(sealed.runs);

    const listed = await ask(`GET /api/v1/runs?filter[batch]=${id}`, { key: keys.prod });
    expect(listed.body.data.map((run: { id: string }) => run.id)).toEqual(sealed.runs.toReversed());
    expect((await ask(`GET /api/v3/runs/${sealed.runs[3]}`, { key: keys.prod })).body).toMatchObject({
      batchId: id,
      triggerFunction: 'batchTrigger',
    });
    for (const run of sealed.runs) await ask(`POST /api/v2/runs/${run}/cancel`, { key: keys.prod });
    expect((await retrieve(id)).body.status).toBe('COMPLETED');
    expect((await ask(`GET /api/v1/batches/${id}`, { key: keys.prod })).body).not.toHaveProperty(
      'processing',
    );
    const results = await ask(`GET /api/v1/batches/${id}/results`, { key: keys.prod });
    expect(results.body.items.map((item: { id: string; ok: boolean }) => [item.id, item.ok])).toEqual(
      sealed.runs.map((run: string) => [run, false]),
    );
  });

  test('has each item once and in order after any uploads, even concurrent ones', async () => {
    const server = await ownBatchServer();
    await server.register('send');
    const uploads = fc.integer({ min: 1, max: 60 }).chain((count) =>
      fc.record({
        count: fc.constant(count),
        uploads: fc.array(fc.array(fc.integer({ min: 0, max: count - 1 }), { maxLength: 80 }), {
          maxLength: 6,
        }),
        atOnce: fc.boolean(),
      }),
    );
    await fc.assert(
      fc.asyncProperty(uploads, async ({ count, uploads: sent, atOnce }) => {
        const id = await server.open({ runCount: count });
        const fills = sent.map(
          (indexes) => () =>
            server.fill(
              id,
              indexes.map((index) => ({ index })),
            ),
        );
        const answers = [];
        if (atOnce) answers.push(...(await Promise.all(fills.map((fill) => fill()))));
        else for (const fill of fills) answers.push(await fill());
        const last = await server.fill(id, items(count));
        expect(last.body.sealed).toBe(true);
        const accepted = [...answers, last].reduce((sum, answer) => sum + answer.body.itemsAccepted, 0);
        expect(accepted).toBe(count);
        expect(await server.payloads(id)).toEqual(items(count).map(({ index }) => index));
        const [row] = await server.sql<{ queued: number }[]>`
          select count(*)::int as queued from queued where run_id like ${`run_${id.slice(6, 27)}%`}`;
        expect(row?.queued).toBe(count);
      }),
      { numRuns: numRuns(30) },
    );
  });

  test('with a thousand items from eight concurrent senders is sealed once', async () => {
    const { fill, open, payloads, sql } = await ownBatchServer();
    const id = await open({ runCount: 1_000 });
    const answers = await Promise.all(Array.from({ length: 8 }, () => fill(id, items(1_000).toReversed())));
    expect(answers.map((answer) => [answer.status, answer.body.sealed])).toEqual(
      Array.from({ length: 8 }, () => [200, true]),
    );
    expect(await payloads(id)).toEqual(items(1_000).map(({ index }) => index));
    expect(await sql`select from pending_version`).toHaveLength(1_000);
  });

  test('applies the delays, priorities and TTLs of its items from the time it is sealed', async () => {
    const { fill, open, register, server, sql } = await ownBatchServer();
    await register('send');
    const id = await open({ runCount: 4 });
    await fill(id, [
      { index: 0, options: { ttl: 60 } },
      { index: 1, options: { delay: '1h' } },
      { index: 2, options: { priority: 10 } },
    ]);
    server.shiftTime(120_000);
    await fill(id, [{ index: 3, task: 'unknown' }]);
    const queued = await sql<{ index: string; left: number | null }[]>`
      select right(run_id, 1) as index, extract(epoch from expires_at - now())::int as left from queued order by lane_id, sort_key, run_id`;
    expect(queued.map((row) => row.index)).toEqual(['2', '0']);
    expect(queued[1]?.left).toBeGreaterThan(150);
    expect(await sql`select from delayed where run_id like '%1'`).toHaveLength(1);
    expect(await sql`select from pending_version where run_id like '%3'`).toHaveLength(1);
  });

  test('uses the existing run for an item whose idempotency key resolves to one', async () => {
    const { ask, fill, keys, open, retrieve } = await batchServer();
    const options = { idempotencyKey: 'k' };
    const before = await ask('POST /api/v1/tasks/send/trigger', { key: keys.prod, body: { options } });
    const id = await open({ runCount: 4 });
    const upload = () =>
      fill(id, [
        { index: 0 },
        { index: 1, options },
        { index: 2, options: { idempotencyKey: 'new' } },
        { index: 3, options: { idempotencyKey: 'new' } },
      ]);
    expect((await upload()).body).toMatchObject({ itemsAccepted: 4, sealed: true });
    expect((await upload()).body).toMatchObject({ itemsAccepted: 0, sealed: true });
    const { runs } = (await retrieve(id)).body;
    expect(runs[1]).toBe(before.body.id);
    expect(runs[3]).toBe(runs[2]);
    expect(new Set(runs).size).toBe(3);
  });

  test('is aborted and its runs are canceled if its items do not arrive within a day', async () => {
    const { ask, fill, keys, open, retrieve, sql } = await ownBatchServer();
    const id = await open({ runCount: 2 });
    await fill(id, [{ index: 0 }]);
    const [run] = (await retrieve(id)).body.runs;
    const clock = { now: () => Date.now() + 24 * 3_600_000 + 1_000, shift() {}, shiftedMs: 0, stop() {} };
    await batchKeeper({ sql, clock }, 86_400_000).tick();
    expect((await retrieve(id)).body.status).toBe('ABORTED');
    expect((await ask(`GET /api/v3/runs/${run}`, { key: keys.prod })).body.status).toBe('CANCELED');
    expect(await fill(id, [{ index: 1 }])).toMatchObject({
      status: 422,
      body: { error: expect.stringContaining('was aborted') },
    });
  });

  test('is aborted together with items that arrive at the same moment', async () => {
    const { ask, fill, keys, open, retrieve, sql } = await ownBatchServer();
    const id = await open({ runCount: 2 });
    const clock = { now: () => Date.now() + 24 * 3_600_000 + 1_000, shift() {}, shiftedMs: 0, stop() {} };
    const waiting = () => lockWaiters(sql);
    const both = await sql.begin(async (tx) => {
      // A request that writes the item blocks here while it holds the batch's lock.
      const taken = itemRunId(id, 0);
      await tx`
        insert into runs (env, id, task, queue_id, sort_key, created_at)
        select env, ${taken}, 'send', 0, 0, now() from batches where id = ${id}`;
      const filling = fill(id, [{ index: 0 }]);
      await expect.poll(waiting, { timeout: 20_000 }).toHaveLength(1);
      const keeping = batchKeeper({ sql, clock }, 86_400_000).tick();
      await expect.poll(waiting, { timeout: 20_000 }).toHaveLength(2);
      await tx`delete from runs where id = ${taken}`;
      return { filling, keeping };
    });
    expect((await both.filling).body).toMatchObject({ itemsAccepted: 1, sealed: false });
    await both.keeping;
    const { status, runs } = (await retrieve(id)).body;
    expect(status).toBe('ABORTED');
    expect((await ask(`GET /api/v3/runs/${runs[0]}`, { key: keys.prod })).body.status).toBe('CANCELED');
  });

  test('skips a run that was canceled before the batch was sealed', async () => {
    const { ask, fill, keys, open, register, retrieve, sql } = await ownBatchServer();
    await register('send');
    const id = await open({ runCount: 2 });
    await fill(id, [{ index: 0 }]);
    const [run] = (await retrieve(id)).body.runs;
    await ask(`POST /api/v2/runs/${run}/cancel`, { key: keys.prod });
    expect((await fill(id, [{ index: 1 }])).body.sealed).toBe(true);
    expect((await ask(`GET /api/v3/runs/${run}`, { key: keys.prod })).body.status).toBe('CANCELED');
    expect(await sql`select from queued`).toHaveLength(1);
  });

  test('turns an item that is too large into a failed run, and continues', async () => {
    const { ask, fill, keys, open, retrieve } = await batchServer();
    const id = await open({ runCount: 3 });
    const large = (index: number, rest: string) =>
      `{"payload":{"index":9,"task":"other","text":"${'x"}'.replaceAll('"', '\\"').repeat(800_000)}"},"index":${index},"task":"send"${rest}}`;
    const answer = await fill(id, [{ index: 0 }, large(1, ''), { index: 2 }]);
    expect(answer).toMatchObject({ status: 200, body: { itemsAccepted: 3, sealed: true } });
    const { runs } = (await retrieve(id)).body;
    expect((await ask(`GET /api/v3/runs/${runs[1]}`, { key: keys.prod })).body).toMatchObject({
      status: 'FAILED',
      taskIdentifier: 'send',
      error: { message: expect.stringContaining('larger than 3145728 bytes') },
    });
    const errors = await ask('GET /api/v1/errors', { key: keys.prod });
    expect(errors.body.data).toMatchObject([{ taskIdentifier: 'send', count: 1 }]);
    expect((await ask(`GET /api/v3/runs/${runs[2]}`, { key: keys.prod })).body.status).toBe(
      'PENDING_VERSION',
    );
    const failed = await ask('GET /api/v1/runs?filter[status]=FAILED', { key: keys.prod });
    expect(failed.body.data).toHaveLength(1);
  });
});

describe('invalid batch input', () => {
  test('is rejected with a status and a reason', async () => {
    const { ask, fill, keys, open, server } = await batchServer();
    const create = (body: unknown) => ask('POST /api/v3/batches', { key: keys.prod, body });
    for (const runCount of [0, -1, 1.5, 1_001, '2']) expect((await create({ runCount })).status).toBe(400);
    expect((await create({ runCount: 1_001 })).body.error).toContain('at most 1000');
    expect((await create({ runCount: 1, taskIdentifiers: [] })).status).toBe(400);
    expect((await create({ runCount: 1, idempotencyKey: 'x'.repeat(2_049) })).status).toBe(400);
    expect((await create({ runCount: 1, parentRunId: 'run_x' })).status).toBe(422);
    expect(
      (await create({ runCount: 1, taskIdentifiers: Array.from({ length: 2_000 }, () => 'x'.repeat(100)) }))
        .status,
    ).toBe(413);

    const id = await open({ runCount: 2 });
    const refused = async (lines: (string | Item)[]) => {
      const { status, body } = await fill(id, lines);
      return `${status} ${body.error}`;
    };
    expect(await refused([{ index: 0 }, '{"index":1,'])).toBe('400 Line 2 is not valid JSON.');
    expect(await refused([{ index: 2 }])).toMatch(/^422 Item index 2 is out of range/);
    expect(await refused(['{"index":1}'])).toMatch(/^422 Invalid item at index 1: .*"task"/);
    expect(await refused(['{"task":"send"}'])).toMatch(/^422 Invalid item at index 0: .*"index"/);
    expect(await refused(['{"index":"1","task":"send"}'])).toMatch(/^422 Invalid item/);
    expect(await refused(['[]'])).toMatch(/^422 Invalid item/);
    expect(
      await refused([{ index: 1, options: { tags: Array.from({ length: 11 }, (_, n) => `${n}`) } }]),
    ).toMatch(/^422 Invalid item at index 1: .*10 tags/);
    expect(await refused([{ index: 1, options: { delay: 'soon' } }])).toMatch(
      /^422 Invalid item at index 1: options.delay/,
    );
    expect((await fill('batch_x', [{ index: 0 }])).status).toBe(422);
    expect((await fill(id, [])).body).toMatchObject({ sealed: false, enqueuedCount: 0 });
    for (const type of ['application/json', 'text/plain']) {
      const response = await fetch(`${server.url}/api/v3/batches/${id}/items`, {
        method: 'POST',
        headers: { authorization: `Bearer ${keys.prod}`, 'content-type': type },
        body: '{"index":0,"task":"send"}',
      });
      expect(response.status).toBe(415);
    }
    // An operation that accepts no stream does not accept this type either.
    const wrong = await ask('POST /api/v3/batches', {
      key: keys.prod,
      body: '{}',
      headers: { 'content-type': 'application/x-ndjson' },
    });
    expect(wrong.status).toBe(415);
    expect((await ask('GET /api/v2/batches/batch_x', { key: keys.prod })).headers.get('x-should-retry')).toBe(
      'true',
    );
    expect((await ask('GET /api/v1/batches/batch_x/results', { key: keys.prod })).body.error).toBe(
      'Batch not found',
    );
    expect((await fill(id, items(2))).body.sealed).toBe(true);
  });

  test('is rejected while the rest of a large upload is still in transit', async () => {
    const { fill, keys, open, server } = await batchServer();
    const id = await open({ runCount: 1_000 });
    const pad = 'x'.repeat(50_000);
    const lines = ['{', ...items(600).map((item) => ({ ...item, payload: pad }))];
    expect((await fill(id, lines)).status).toBe(400);
    // The connection can still be used.
    const response = await fetch(`${server.url}/api/v2/batches/${id}`, {
      headers: { authorization: `Bearer ${keys.prod}` },
    });
    expect(response.status).toBe(200);
  });

  test('in a single request is rejected (no items, too many, an invalid item), and nothing is stored', async () => {
    const { ask, keys, sql } = await ownBatchServer();
    const whole = (batch: unknown) => ask('POST /api/v2/tasks/batch', { key: keys.prod, body: batch });
    expect((await whole({ items: [] })).body.error).toContain('at least one item');
    const many = Array.from({ length: 501 }, () => ({ task: 'send' }));
    expect((await whole({ items: many })).body.error).toContain('at most 500 items');
    const bad = await whole({
      items: [{ task: 'send' }, { task: 'send', options: { lockToVersion: '20200101.1' } }],
    });
    expect(bad).toMatchObject({ status: 422, body: { error: expect.stringContaining('item at index 1') } });
    expect(await sql`select from batches`).toHaveLength(0);
    const good = await whole({ items: many.slice(1) });
    expect(good).toMatchObject({ status: 202, body: { runCount: 500, isCached: false } });
    expect(good.headers.get('x-trigger-jwt')).toMatch(/^eyJ/);
    expect(await sql`select from runs`).toHaveLength(500);
  });
});

test('a stream is read in chunks of any size', async () => {
  const { ask, keys, open, payloads, server } = await batchServer();
  const id = await open({ runCount: 3 });
  const text = items(3)
    .map(({ index }) => JSON.stringify({ index, task: 'send', payload: `€ ${index} 🦊` }))
    .join('\r\n');
  const response = await fetch(`${server.url}/api/v3/batches/${id}/items`, {
    method: 'POST',
    headers: { authorization: `Bearer ${keys.prod}`, 'content-type': 'application/ndjson; charset=utf-8' },
    body: streamOf(text, 3),
    duplex: 'half',
  });
  expect(await response.json()).toMatchObject({ sealed: true });
  expect(await payloads(id)).toEqual(['€ 0 🦊', '€ 1 🦊', '€ 2 🦊']);
  expect((await ask(`GET /api/v2/batches/${id}`, { key: keys.prod })).body.runs).toHaveLength(3);
});
