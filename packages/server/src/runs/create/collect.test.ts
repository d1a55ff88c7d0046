import fc from 'fast-check';
import * as superjson from 'superjson';
import { describe, expect, test } from 'vitest';
import { triggerBodyLimit } from '@millrace/contract';
import { newTimedId } from '../../db/ids.ts';
import { cancelRun } from '../cancel/cancel.ts';
import { pruneRows } from '../../app/testing/prune-rows.ts';
import { readStartConditions } from '../reason/start-conditions.ts';
import { reasonOf } from '../reason/reason.ts';
import { retrieveRun } from '../retrieve/retrieve.ts';
import { testEngine, testTrigger, type TestEngine } from '../testing/engine.ts';
import { insertRuns } from './insert.ts';
import { prepareRun, type TriggerRequest } from './prepare.ts';
import { prepareReplay } from './replay.ts';
import { numRuns } from '../../../../../test/support/long.ts';

const failed = { type: 'BUILT_IN_ERROR', name: 'Error', message: 'no', stackTrace: '' } as const;

interface Collecting extends TestEngine {
  readonly version: number;
  start(): ReturnType<TestEngine['claim']>;
  /** The stored payload of a run. */
  stored(run: string): Promise<{ payload: string | null; type: string | null }>;
  add(payload: unknown, options?: TriggerRequest['options']): Promise<string>;
}

async function collectingEngine(batch = { maxSize: 3, maxWaitMs: 5_000 }): Promise<Collecting> {
  const t = await testEngine();
  const { id } = await t.register({ id: 'index', batch }, 'mail');
  await t.addRunner('r');
  return {
    ...t,
    version: id,
    start: () => t.claim('r', [id], 100),
    async stored(run) {
      const [row] = await t.sql<{ payload: string | null; type: string | null }[]>`
        select payload, payload_type as type from runs where id = ${run}`;
      return row!;
    },
    async add(payload, options) {
      const triggered = await t.trigger('index', options, payload);
      return triggered.id;
    },
  };
}

describe('triggers of a task with a batch', () => {
  test('create one run, which starts with the array of their payloads when due', async () => {
    const t = await collectingEngine();
    const first = await t.add({ n: 1 });
    t.engine.clock.shift(3_000);
    expect(await t.add({ n: 2 })).toBe(first);
    const conditions = await readStartConditions(
      t.sql,
      t.environment.id,
      first,
      new Date(t.engine.clock.now()),
    );
    expect(conditions && reasonOf(conditions)).toMatchObject({
      reason: 'collecting',
      until: expect.any(String),
      message: expect.stringMatching(/^It collects trigger payloads until 20.*It has 2 payloads\.$/),
    });
    expect(await retrieveRun(t.engine, t.environment.id, first)).toMatchObject({
      status: 'DELAYED',
      payload: [{ n: 1 }, { n: 2 }],
    });
    await t.promote();
    expect(await t.start()).toEqual([]);
    t.engine.clock.shift(2_001);
    // The run is due, whether or not it has been promoted.
    const next = await t.add({ n: 3 });
    expect(next).not.toBe(first);
    await t.promote();
    const [attempt] = await t.start();
    expect(attempt).toMatchObject({ run: first });
    expect(await t.stored(first)).toEqual({ payload: '[{"n":1},{"n":2}]', type: null });
    expect(await t.add({ n: 4 })).toBe(next);

    // A retry has the same array, even while it waits like a delayed run.
    await t.end(attempt!, { kind: 'retry', delayMs: 1_000, error: failed });
    expect(await t.add({ n: 5 })).toBe(next);
    t.engine.clock.shift(1_001);
    await t.promote();
    expect(new Set((await t.start()).map(({ run }) => run))).toEqual(new Set([first, next]));
    expect(await t.stored(first)).toEqual({ payload: '[{"n":1},{"n":2}]', type: null });
    expect(await t.stored(next)).toEqual({ payload: '[{"n":3},{"n":4},{"n":5}]', type: null });
  });

  test('start the run immediately when it is full, one by one or in one statement', async () => {
    const t = await collectingEngine();
    const ids: string[] = [];
    for (let n = 0; n < 4; n++) ids.push(await t.add(n));
    expect(new Set(ids).size).toBe(2);
    await t.promote();
    expect(await t.start()).toMatchObject([{ run: ids[0] }]);
    const many = await Promise.all([4, 5, 6, 7, 8, 9, 10].map((n) => t.add(n)));
    await t.promote();
    const started = await t.start();
    expect(started.map(({ run }) => run)).toEqual([...new Set([ids[3], ...many])].slice(0, 2));
    expect((await t.stored(ids[3]!)).payload).toBe('[3,4,5]');
    expect((await t.stored(many[2]!)).payload).toBe('[6,7,8]');
    expect((await retrieveRun(t.engine, t.environment.id, many.at(-1)!))?.payload).toEqual([9, 10]);
    const [row] = await t.sql<{ early: boolean }[]>`
      select bool_and(sort_key <= ${t.engine.clock.now()} and delayed_until <= ${new Date(t.engine.clock.now())}) as early
        from runs where id = any (${started.map(({ run }) => run)}::text[])`;
    expect(row).toEqual({ early: true });
  });

  test('share a run only with the same batch key, queue, concurrency key and version', async () => {
    const t = await collectingEngine();
    const ids = [
      await t.add(1),
      await t.add(2, { batchKey: 'a' }),
      await t.add(3, { batchKey: 'b' }),
      await t.add(4, { concurrencyKey: 'c' }),
      await t.add(5, { queue: { name: 'other' } }),
      await t.add(6, { test: true }),
    ];
    expect(new Set(ids).size).toBe(ids.length);
    expect(await t.add(7, { batchKey: 'a' })).toBe(ids[1]);
  });

  test('accept payloads of all types', async () => {
    const t = await collectingEngine({ maxSize: 10, maxWaitMs: 5_000 });
    const shared = { at: new Date(5) };
    const loop: { self?: unknown } = {};
    loop.self = loop;
    const payloads = [
      { at: new Date(1), 'a.b': new Set([1n]) },
      'text "quoted"',
      undefined,
      { plain: [1] },
      new Date(2),
      { a: shared, b: shared },
      loop,
      new Map([['k', new Date(3)]]),
    ];
    const send = (payload: unknown) =>
      typeof payload === 'string'
        ? t.add(payload, { payloadType: 'text/plain' })
        : payload === undefined
          ? t.add(undefined)
          : t.add(superjson.stringify(payload), { payloadType: 'application/super+json' });
    let id = '';
    for (const payload of payloads) id = await send(payload);
    t.engine.clock.shift(5_001);
    await t.promote();
    const { payload, type } = await t.stored(id);
    expect(type).toBe('application/super+json');
    const read = superjson.parse<{ self?: unknown; a?: unknown; b?: unknown }[]>(payload!);
    expect(read.toSpliced(6, 1)).toEqual(payloads.map((each) => each ?? null).toSpliced(6, 1));
    expect(read[6]!.self).toBe(read[6]);
    expect(read[5]!.a).toBe(read[5]!.b);
  });

  test('are collected once, even if a request or an idempotency key is repeated', async () => {
    const t = await collectingEngine();
    const servers = [testTrigger(t.engine, t.dispatch), testTrigger(t.engine, t.dispatch)];
    const send = async (server: number, payload: number, requestKey?: string, idempotencyKey?: string) =>
      servers[server]!({
        ...(await prepareRun(t.engine, t.environment, 'index', { payload, options: { idempotencyKey } })),
        requestKey,
      });
    const [keyA, keyB] = [crypto.randomUUID(), crypto.randomUUID()];
    const first = await send(0, 1, keyA);
    const second = await send(0, 2, keyB, 'two');
    expect(second).toEqual(first);
    for (const server of [0, 1]) {
      expect((await send(server, 1, keyA)).id).toBe(first.id);
      expect(await send(server, 2, undefined, 'two')).toEqual({ id: first.id, isCached: true });
      expect((await send(server, 2, keyB, 'two')).id).toBe(first.id);
    }
    // both at the same time
    const keyC = crypto.randomUUID();
    await Promise.all([0, 1, 0, 1].map((server) => send(server, 3, keyC)));
    await t.promote();
    await t.start();
    expect((await t.stored(first.id)).payload).toBe('[1,2,3]');
    // after it has started, too
    expect((await send(1, 3, keyC)).id).toBe(first.id);
    expect((await send(1, 2, undefined, 'two')).id).toBe(first.id);
    expect((await send(1, 1, keyA)).id).toBe(first.id);
    expect(await t.sql`select from runs`).toHaveLength(1);
    t.engine.clock.shift(86_400_001);
    await pruneRows(t.engine);
    expect(await t.sql`select from run_parts`).toEqual([]);
    expect(await t.sql`select from collecting`).toEqual([]);
  });

  test('create another run when the first is canceled or its payloads are too large in total', async () => {
    const t = await collectingEngine();
    const first = await t.add(1);
    await cancelRun(t.engine, t.runners, t.environment.id, first);
    expect(await t.statusOf(first)).toBe('CANCELED');
    const second = await t.add('x'.repeat(2_000_000));
    expect(second).not.toBe(first);
    expect(await retrieveRun(t.engine, t.environment.id, first)).toMatchObject({ payload: [1] });
    const third = await t.add('y'.repeat(2_000_000));
    expect(third).not.toBe(second);
    await t.promote();
    expect(await t.start()).toMatchObject([{ run: second }]);
    // as large as a request body
    const { id } = await t.trigger('index', undefined, 'z'.repeat(triggerBodyLimit - 16));
    await t.promote();
    t.engine.clock.shift(5_001);
    await t.promote();
    expect((await t.start()).map(({ run }) => run)).toEqual([third, id]);
  });

  test('do not wait longer when the clock is set back', async () => {
    const t = await collectingEngine();
    const first = await t.add(1);
    t.engine.clock.shift(-3_600_000);
    expect(await t.add(2)).toBe(first);
    t.engine.clock.shift(5_001);
    await t.promote();
    expect(await t.start()).toMatchObject([{ run: first }]);
  });

  test('do not create children of the triggering run, which is still checked', async () => {
    const t = await collectingEngine();
    const parent = await t.trigger('mail');
    const [attempt] = await t.start();
    const within = { parentRunId: parent.id, parentFence: attempt!.fence };
    const child = await t.add(1, { ...within, waitKey: 'w/1' });
    expect(await t.add(2)).toBe(child);
    // The same wait again, from code that is executed again.
    expect(await t.add(1, { ...within, waitKey: 'w/1' })).toBe(child);
    await cancelRun(t.engine, t.runners, t.environment.id, parent.id);
    await t.end(attempt!);
    expect(await t.statusOf(parent.id)).toBe('CANCELED');
    expect(await t.statusOf(child)).toBeNull();
    await expect(t.add(3, within)).rejects.toMatchObject({ status: 409 });
    t.engine.clock.shift(5_001);
    await t.promote();
    await t.start();
    expect((await t.stored(child)).payload).toBe('[1,2]');
  });

  test('are rejected with an option that also determines the start time', async () => {
    const t = await collectingEngine();
    for (const options of [
      { delay: '1m' },
      { debounce: { key: 'k', delay: '1s' } },
      { singleton: {} },
      { ttl: 10 },
    ])
      await expect(t.trigger('index', options)).rejects.toMatchObject({
        status: 422,
        message: expect.stringMatching(`^options\\.${Object.keys(options)[0]}: .* has a batch`),
      });
    await expect(t.trigger('mail', { batchKey: 'k' })).rejects.toMatchObject({ status: 422 });
    await expect(t.trigger('unknown', { batchKey: 'k' })).rejects.toMatchObject({ status: 422 });
  });

  test('are replayed as an array', async () => {
    const t = await collectingEngine();
    const first = await t.add(1);
    await t.add(2);
    for (const when of ['collecting', 'started']) {
      const run = await prepareReplay(t.engine, t.environment, first);
      expect([when, run]).toMatchObject([when, { state: 'queued', payload: '[1,2]', collection: undefined }]);
      t.engine.clock.shift(5_001);
      await t.promote();
    }
  });
});

interface Call {
  readonly act: 'trigger' | 'cancel' | 'promote' | 'claim' | 'crash' | 'time';
  readonly server: 0 | 1;
  readonly key: 'a' | 'b';
  readonly size: number;
  readonly repeats: boolean;
  readonly pick: number;
}

const drawCall: fc.Arbitrary<Call> = fc.record({
  act: fc.constantFrom(
    'trigger',
    'trigger',
    'trigger',
    'trigger',
    'cancel',
    'promote',
    'claim',
    'crash',
    'time',
  ),
  server: fc.constantFrom(0, 1),
  key: fc.constantFrom('a', 'b'),
  size: fc.constantFrom(1, 1, 1, 600_000, 1_700_000),
  repeats: fc.boolean(),
  pick: fc.nat(),
});

test('every accepted payload ends up in exactly one run exactly once, with any concurrent events on two servers', async () => {
  const calls = fc.array(drawCall, { minLength: 1, maxLength: 6 });
  await fc.assert(fc.asyncProperty(fc.array(calls, { minLength: 5, maxLength: 20 }), driven), {
    numRuns: numRuns(12),
    endOnFailure: true,
  });
});

async function driven(steps: readonly (readonly Call[])[]): Promise<void> {
  const maxSize = 4;
  const maxWaitMs = 1_000;
  const t = await collectingEngine({ maxSize, maxWaitMs });
  const servers = [testTrigger(t.engine, t.dispatch), testTrigger(t.engine, t.dispatch)];
  const env = t.environment.id;
  /** The runs that calls resolved to, by payload. */
  const accepted = new Map<string, Set<string>>();
  let count = 0;
  let setBack = 0;

  const send = async (name: string, requestKey: string, { server, key, size }: Call) => {
    const run = await prepareRun(t.engine, t.environment, 'index', {
      payload: { name, fill: 'x'.repeat(size) },
      options: { batchKey: key },
    });
    const { id } = await servers[server]!({ ...run, requestKey });
    accepted.set(name, (accepted.get(name) ?? new Set()).add(id));
  };

  const perform = async (call: Call): Promise<void> => {
    const { act, server, key, pick } = call;
    if (act === 'trigger') {
      const name = `p${++count}`;
      const requestKey = crypto.randomUUID();
      await send(name, requestKey, call);
      if (call.repeats) await send(name, requestKey, { ...call, server: server === 0 ? 1 : 0 });
    } else if (act === 'crash') {
      // A trigger of a server that is killed before the commit.
      const run = await prepareRun(t.engine, t.environment, 'index', {
        payload: { name: `lost${++count}` },
        options: { batchKey: key },
      });
      await t.sql
        .begin(async (tx) => {
          await insertRuns({ sql: tx, clock: t.engine.clock }, [
            { ...run, id: newTimedId('run', t.engine.clock.now()) },
          ]);
          throw new Error('killed');
        })
        .catch((error: unknown) => expect(error).toMatchObject({ message: 'killed' }));
    } else if (act === 'cancel') {
      const live = await t.sql<{ id: string }[]>`select id from runs where status is null order by id`;
      const run = live[pick % Math.max(1, live.length)];
      if (run) await cancelRun(t.engine, t.runners, env, run.id);
    } else if (act === 'promote') {
      await t.promote();
    } else if (act === 'claim') {
      await t.start();
    } else {
      const ms = ((pick % 5) - 1) * 400;
      setBack += Math.max(0, -ms);
      t.engine.clock.shift(ms);
    }
  };

  for (const calls of steps) {
    await Promise.all(calls.map(perform));
    // The promoter processes due runs; none is due later than allowed.
    const late = await t.sql`
      select from delayed d join runs r on r.env = d.env and r.id = d.run_id
       where d.due > least(${new Date(t.engine.clock.now() + maxWaitMs + setBack)}::timestamptz,
                           r.created_at + make_interval(secs => ${(maxWaitMs + setBack) / 1_000}::float8))`;
    expect(late).toEqual([]);
  }
  t.engine.clock.shift(10_000);
  await t.promote();
  expect(await t.sql`select from delayed`).toEqual([]);
  const found = new Map<string, string[]>();
  for (const { id, payload } of await t.sql<
    { id: string; payload: string }[]
  >`select id, payload from runs`) {
    const parts = JSON.parse(payload) as { name: string }[];
    expect(parts.length).toBeGreaterThan(0);
    expect(parts.length).toBeLessThanOrEqual(maxSize);
    expect(payload.length).toBeLessThanOrEqual(triggerBodyLimit);
    for (const { name } of parts) found.set(name, [...(found.get(name) ?? []), id]);
  }
  expect(Object.fromEntries(found)).toEqual(
    Object.fromEntries([...accepted].map(([name, ids]) => [name, [...ids]])),
  );
  await t.close();
}
