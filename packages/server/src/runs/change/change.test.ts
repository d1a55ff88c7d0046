import { describe, expect, test } from 'vitest';
import { addTags } from './tags.ts';
import { eventsOf, resultOf, traceOf } from '../complete/outcome.ts';
import { prepareReplay, type OtherPayload } from '../create/replay.ts';
import { rescheduleRun } from './reschedule.ts';
import { retrieveRun } from '../retrieve/retrieve.ts';
import { changeMetadata } from '../metadata/metadata.ts';
import { testEngine, type TestEngine, testTrigger } from '../testing/engine.ts';

const failure = { type: 'BUILT_IN_ERROR', name: 'Error', message: 'no', stackTrace: '' } as const;

async function replay(t: TestEngine, run: string, other?: OtherPayload) {
  const prepared = await prepareReplay(t.engine, t.environment, run, other);
  const { id } = await testTrigger(t.engine, t.dispatch)(prepared!);
  return (await retrieveRun(t.engine, t.environment.id, id))!;
}

const rowOf = async (t: TestEngine, run: string) => (await t.sql`select * from runs where id = ${run}`)[0]!;

describe('a replay', () => {
  test('copies the input of the run, not its results', async () => {
    const t = await testEngine();
    const old = await t.register('send');
    const { id } = await t.trigger(
      'send',
      {
        queue: { name: 'mail' },
        concurrencyKey: 'ada',
        machine: 'micro',
        tags: ['b', 'a'],
        metadata: { step: 0 },
        test: true,
        idempotencyKey: 'k',
        ttl: 60,
        maxAttempts: 7,
        priority: 5,
        lockToVersion: old.version,
        delay: '1h',
      },
      { to: 'ada', n: [1, null] },
    );
    await changeMetadata(t.engine, t.environment.id, id, {
      operations: [{ type: 'set', key: 'step', value: 9 }],
    });
    await t.register('send', 'other');
    const again = await replay(t, id);
    expect(again).toMatchObject({
      status: 'QUEUED',
      taskIdentifier: 'send',
      payload: { to: 'ada', n: [1, null] },
      tags: ['a', 'b'],
      metadata: { step: 0 },
      isTest: true,
      queue: 'mail',
    });
    expect(again.id).not.toBe(id);
    expect(again.idempotencyKey ?? again.delayedUntil ?? again.ttl ?? again.version).toBeUndefined();
    expect(await rowOf(t, again.id)).toMatchObject({
      concurrency_key: 'ada',
      machine: 'micro',
      max_attempts: null,
      priority_ms: 0,
      parent_id: null,
    });
  });

  test('waits in the queue of the original run, regardless of its name', async () => {
    const t = await testEngine();
    await t.register('send.mail');
    const { id } = await t.trigger('send.mail');
    expect((await replay(t, id)).queue).toBe('task/send.mail');
    await t.register({ id: 'send.mail', queue: { name: 'mail', concurrencyLimit: 1 } });
    expect((await replay(t, id)).queue).toBe('task/send.mail');
  });

  test('accepts a run in any state, and a replay', async () => {
    const t = await testEngine();
    const { id: version } = await t.register('send');
    await t.addRunner('r');
    const { id } = await t.trigger('send', {}, 'x');
    const waiting = await replay(t, id);
    const [attempt] = await t.claim('r', [version], 1);
    const running = await replay(t, attempt!.run);
    await t.end(attempt!, { kind: 'failed', status: 'FAILED', error: failure });
    const failed = await replay(t, attempt!.run);
    const again = await replay(t, failed.id);
    expect([waiting, running, failed, again].map((run) => run.payload)).toEqual(['x', 'x', 'x', 'x']);
    expect(await prepareReplay(t.engine, t.environment, 'run_unknown')).toBeUndefined();
  });

  test.each([
    ['application/super+json', '{"json":{"n":1}}', { n: 1 }],
    ['text/plain', 'hello', 'hello'],
    [undefined, [1], [1]],
  ])('preserves the payload type %s, original or replaced', async (payloadType, payload, expected) => {
    const t = await testEngine();
    await t.register('send');
    const { id } = await t.trigger('send', { payloadType }, payload);
    expect((await replay(t, id)).payload).toEqual(expected);
    const plain = await t.trigger('send');
    expect((await replay(t, plain.id)).payload).toBeUndefined();
    expect((await replay(t, plain.id, { payload, payloadType })).payload).toEqual(expected);
  });
});

describe('rescheduling', () => {
  test('moves a delayed run, earlier or later', async () => {
    const t = await testEngine();
    await t.register('send');
    const expected: number[] = [];
    const dispatch = { expect: (at: number) => void expected.push(at) };
    const env = t.environment.id;
    const { id } = await t.trigger('send', { delay: '1h' });
    await rescheduleRun(t.engine, dispatch, env, id, '2h');
    t.engine.clock.shift(3_600_000);
    await t.promote();
    expect((await retrieveRun(t.engine, env, id))?.status).toBe('DELAYED');
    const soon = new Date(t.engine.clock.now() + 60_000).toISOString();
    await rescheduleRun(t.engine, dispatch, env, id, soon);
    expect((await retrieveRun(t.engine, env, id))?.delayedUntil).toBe(soon);
    expect(expected.at(-1)).toBe(Date.parse(soon));
    t.engine.clock.shift(60_001);
    await t.promote();
    expect((await retrieveRun(t.engine, env, id))?.status).toBe('QUEUED');
    expect(Number((await rowOf(t, id))['sort_key'])).toBe(Date.parse(soon));
  });

  test("rejects a past date, leaving the run's time unchanged", async () => {
    const t = await testEngine();
    await t.register('send');
    const env = t.environment.id;
    const { id } = await t.trigger('send', { delay: '1h' });
    const before = (await retrieveRun(t.engine, env, id))?.delayedUntil;
    const past = new Date(t.engine.clock.now() - 1_000).toISOString();
    await expect(rescheduleRun(t.engine, { expect() {} }, env, id, past)).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/^delay: .* is in the past/),
    });
    expect(await retrieveRun(t.engine, env, id)).toMatchObject({ status: 'DELAYED', delayedUntil: before });
    await rescheduleRun(t.engine, { expect() {} }, env, id, '0s');
    await t.promote();
    expect((await retrieveRun(t.engine, env, id))?.status).toBe('QUEUED');
  });

  test('rejects a run that is not delayed, and an invalid delay', async () => {
    const t = await testEngine();
    const { id: version } = await t.register('send');
    await t.addRunner('r');
    const { id } = await t.trigger('send');
    const dispatch = { expect() {} };
    const again = (delay: string) => rescheduleRun(t.engine, dispatch, t.environment.id, id, delay);
    await expect(again('1h')).rejects.toMatchObject({ status: 422 });
    const [attempt] = await t.claim('r', [version], 1);
    await t.end(attempt!, { kind: 'retry', delayMs: 1e6, error: failure });
    // Between two attempts it also waits for a certain time, but that is not its delay.
    await expect(again('1h')).rejects.toMatchObject({ status: 422 });
    for (const delay of ['', '10', 'soon', 'May 1', '2020-01-01', '2020-01-01T10:00:00Z']) {
      await expect(again(delay)).rejects.toMatchObject({
        status: 400,
        message: expect.stringMatching(/^delay: /),
      });
    }
  });
});

describe('tags', () => {
  test('are added without duplicates, up to ten', async () => {
    const t = await testEngine();
    await t.register('send');
    const env = t.environment.id;
    const { id } = await t.trigger('send', { tags: ['a'] });
    expect(await addTags(t.engine, env, id, ['a', ' b ', 'b', ''])).toBe(1);
    expect((await retrieveRun(t.engine, env, id))?.tags).toEqual(['a', 'b']);
    const more = Array.from({ length: 9 }, (_, n) => `more ${n}`);
    await expect(addTags(t.engine, env, id, more)).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining('has 2 and would get 9 more'),
    });
    const both = await Promise.all([
      addTags(t.engine, env, id, more.slice(0, 4)),
      addTags(t.engine, env, id, more.slice(4, 8)),
    ]);
    expect(both).toEqual([4, 4]);
    expect(await addTags(t.engine, env, id, ['a'])).toBe(0);
    expect((await retrieveRun(t.engine, env, id))?.tags).toHaveLength(10);
  });
});

describe('the outcome of a run', () => {
  test('is its output or its error, once it has ended', async () => {
    const t = await testEngine();
    const { id: version } = await t.register('send');
    const env = t.environment.id;
    await t.addRunner('r');
    const { id } = await t.trigger('send');
    expect(await resultOf(t.engine, env, id)).toBeUndefined();
    expect(await resultOf(t.engine, env, 'run_unknown')).toBeUndefined();
    const [attempt] = await t.claim('r', [version], 1);
    await t.end(attempt!, { kind: 'completed', output: '{"n":1}', outputType: 'application/json' });
    expect(await resultOf(t.engine, env, id)).toMatchObject({
      ok: true,
      id,
      output: '{"n":1}',
      outputType: 'application/json',
      taskIdentifier: 'send',
      usage: { durationMs: expect.any(Number) },
    });
    const bad = await t.trigger('send');
    const [second] = await t.claim('r', [version], 1);
    await t.end(second!, { kind: 'failed', status: 'FAILED', error: failure });
    expect(await resultOf(t.engine, env, bad.id)).toEqual({
      ok: false,
      id: bad.id,
      error: failure,
      taskIdentifier: 'send',
    });
    const late = await t.trigger('send', { ttl: 1 });
    t.engine.clock.shift(1_001);
    await t.expire();
    expect(await resultOf(t.engine, env, late.id)).toMatchObject({
      ok: false,
      error: { type: 'INTERNAL_ERROR', code: 'UNSPECIFIED_ERROR', message: 'The run is EXPIRED.' },
    });
  });

  test('contains its log lines as events, and the run and its children as spans', async () => {
    const t = await testEngine();
    await t.register('send');
    const env = t.environment.id;
    const { id } = await t.trigger('send');
    const child = await t.trigger('send', { parentRunId: id });
    await t.sql`
      insert into run_logs (env, run_id, attempt, at, level, message, properties)
      values (${env}, ${id}, 1, now(), 'info', 'hello', '{"a":1}')`;
    const { events } = await eventsOf(t.engine, env, id);
    expect(events).toMatchObject([{ runId: id, message: 'hello', properties: { a: 1 }, attempt: 1 }]);
    const traced = await traceOf(t.engine, env, id);
    expect(traced?.trace).toMatchObject({
      traceId: id,
      rootSpan: {
        id,
        data: { taskSlug: 'send', isPartial: true },
        children: [{ id: child.id, parentId: id }],
      },
    });
    expect((await traceOf(t.engine, env, child.id))?.trace.traceId).toBe(id);
    expect(await traceOf(t.engine, env, 'run_unknown')).toBeUndefined();
  });
});
