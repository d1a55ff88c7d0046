import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cancelRun } from '../cancel/cancel.ts';
import { prepareRun } from './prepare.ts';
import { readStartConditions } from '../reason/start-conditions.ts';
import { reasonOf } from '../reason/reason.ts';
import { rescheduleRun } from '../change/reschedule.ts';
import { testEngine, testTrigger, type TestEngine } from '../testing/engine.ts';
import { numRuns } from '../../../../../test/support/long.ts';

const skip = { key: 'k', onConflict: 'skip' } as const;
const queue = { key: 'k', onConflict: 'queue' } as const;
const replace = { key: 'k', onConflict: 'replace' } as const;

const failed = { type: 'BUILT_IN_ERROR', name: 'Error', message: 'no', stackTrace: '' } as const;

async function syncEngine(): Promise<TestEngine & { start(want?: number): ReturnType<TestEngine['claim']> }> {
  const t = await testEngine();
  const { id } = await t.register('sync');
  await t.addRunner('r');
  return { ...t, start: (want = 10) => t.claim('r', [id], want) };
}

describe('triggers with a singleton', () => {
  test('return the live run, waiting or running, and create a new one when it has ended', async () => {
    const t = await syncEngine();
    const first = await t.trigger('sync', { singleton: skip });
    expect(first.isCached).toBe(false);
    expect(await t.trigger('sync', { singleton: skip })).toEqual({ id: first.id, isCached: true });
    const [attempt] = await t.start();
    expect(await t.trigger('sync', { singleton: skip })).toEqual({ id: first.id, isCached: true });
    // Another key, another task, or none: another run.
    for (const [task, options] of [
      ['sync', { singleton: { key: 'other' } }],
      ['sync', { singleton: {} }],
      ['sync', {}],
      ['mail', { singleton: skip }],
    ] as const)
      expect((await t.trigger(task, options)).id).not.toBe(first.id);
    // A retry is the same run.
    await t.end(attempt!, { kind: 'retry', delayMs: 0, error: failed });
    expect((await t.trigger('sync', { singleton: skip })).id).toBe(first.id);
    await t.promote();
    const again = (await t.start()).find(({ run }) => run === first.id);
    await t.end(again!);
    const second = await t.trigger('sync', { singleton: skip });
    expect(second).toEqual({ id: expect.not.stringContaining(first.id), isCached: false });
  });

  test('with onConflict queue return the run waiting for the executing one', async () => {
    const t = await syncEngine();
    const first = await t.trigger('sync', { singleton: queue });
    expect(await t.trigger('sync', { singleton: queue })).toEqual({ id: first.id, isCached: true });
    const [attempt] = await t.start();
    const second = await t.trigger('sync', { singleton: queue });
    expect(second).toEqual({ id: expect.not.stringContaining(first.id), isCached: false });
    expect(await t.trigger('sync', { singleton: queue })).toEqual({ id: second.id, isCached: true });
    await t.promote();
    expect(await t.start()).toEqual([]);
    const conditions = await readStartConditions(
      t.sql,
      t.environment.id,
      second.id,
      new Date(t.engine.clock.now()),
    );
    expect(conditions && reasonOf(conditions)).toMatchObject({
      reason: 'singleton',
      waitsFor: first.id,
      message: expect.stringMatching(/^It is waiting for the end of the run run_/),
    });
    await expect(
      rescheduleRun(t.engine, t.dispatch, t.environment.id, second.id, '1h'),
    ).rejects.toMatchObject({ status: 422 });

    await t.end(attempt!);
    await t.promote();
    expect(await t.start()).toMatchObject([{ run: second.id, attempt: 1 }]);
    const third = await t.trigger('sync', { singleton: queue });
    expect(third.isCached).toBe(false);
    // After the waiting run has been canceled, the next trigger waits in its place.
    await cancelRun(t.engine, t.runners, t.environment.id, third.id);
    const fourth = await t.trigger('sync', { singleton: queue });
    expect(fourth.isCached).toBe(false);
    expect(await t.start()).toEqual([]);
  });

  test('keep their delay after waiting for another run', async () => {
    const t = await syncEngine();
    await t.trigger('sync', { singleton: queue });
    const [attempt] = await t.start();
    await t.trigger('sync', { singleton: queue, delay: '1h' });
    await t.end(attempt!);
    await t.promote();
    expect(await t.start()).toEqual([]);
    t.engine.clock.shift(3_601_000);
    await t.promote();
    expect(await t.start()).toHaveLength(1);
  });

  test('with onConflict replace cancel a waiting run immediately, and an executing one before they start', async () => {
    const t = await syncEngine();
    const first = await t.trigger('sync', { singleton: replace });
    const second = await t.trigger('sync', { singleton: replace });
    expect(await t.statusOf(first.id)).toBe('CANCELED');
    const [attempt] = await t.start();
    expect(attempt).toMatchObject({ run: second.id });
    const third = await t.trigger('sync', { singleton: replace });
    const fourth = await t.trigger('sync', { singleton: replace });
    expect(await t.statusOf(third.id)).toBe('CANCELED');
    await t.promote();
    expect(await t.start()).toEqual([]);
    const [lease] = await t.sql<{ cancel_requested: boolean }[]>`select cancel_requested from leases`;
    expect(lease).toEqual({ cancel_requested: true });
    await t.end(attempt!);
    expect(await t.statusOf(second.id)).toBe('CANCELED');
    await t.promote();
    expect(await t.start()).toMatchObject([{ run: fourth.id }]);
  });

  test('in the same statement create one run', async () => {
    const t = await syncEngine();
    const many = await Promise.all(
      [skip, queue, skip, queue].map((singleton) => t.trigger('sync', { singleton })),
    );
    expect(new Set(many.map(({ id }) => id)).size).toBe(1);
    expect(many.filter(({ isCached }) => !isCached)).toHaveLength(1);
    const [attempt] = await t.start();
    const waiting = await Promise.all(
      [queue, queue, replace].map((singleton) => t.trigger('sync', { singleton })),
    );
    const live = await t.sql<{ id: string }[]>`select id from runs where status is null`;
    expect(live.map(({ id }) => id).toSorted()).toEqual([attempt!.run, waiting[2]!.id].toSorted());
  });

  test('use the singleton of the task unless they specify one, and are replayed under it', async () => {
    const t = await testEngine();
    await t.register({ id: 'sync', singleton: { onConflict: 'replace' } });
    const first = await t.trigger('sync');
    const second = await t.trigger('sync');
    expect(await t.statusOf(first.id)).toBe('CANCELED');
    expect((await t.trigger('sync', { singleton: { onConflict: 'skip' } })).id).toBe(second.id);
    expect((await t.trigger('sync', { singleton: { key: 'other' } })).id).not.toBe(second.id);
    await expect(t.trigger('sync', { debounce: { key: 'k', delay: '1s' } })).rejects.toMatchObject({
      status: 422,
      message: expect.stringMatching(/task also has a singleton/),
    });
  });

  test('store the resulting run for an idempotency key', async () => {
    const t = await syncEngine();
    const first = await t.trigger('sync', { singleton: skip });
    const keyed = await t.trigger('sync', { singleton: skip, idempotencyKey: 'once' });
    const [attempt] = await t.start();
    await t.end(attempt!);
    expect(keyed.id).toBe(first.id);
    expect(await t.trigger('sync', { singleton: skip, idempotencyKey: 'once' })).toEqual({
      id: first.id,
      isCached: true,
    });
  });

  test('are rejected if a run would wait for itself', async () => {
    const t = await syncEngine();
    const { id } = await t.trigger('sync', { singleton: skip });
    const [attempt] = await t.start();
    const within = { parentRunId: id, parentFence: attempt!.fence };
    for (const singleton of [skip, queue, replace])
      await expect(
        t.trigger('sync', { singleton, ...within, waitKey: `w-${singleton.onConflict}` }),
      ).rejects.toMatchObject({ status: 409, message: expect.stringMatching(/would wait for itself/) });
    // Otherwise the new run would wait for the end of its triggering run, which is not canceled.
    const next = await t.trigger('sync', { singleton: replace, ...within });
    expect(next.isCached).toBe(false);
    await t.end(attempt!);
    expect(await t.statusOf(id)).toBe('COMPLETED');
    await t.promote();
    expect(await t.start()).toMatchObject([{ run: next.id }]);
  });
});

interface Call {
  readonly act: 'trigger' | 'claim' | 'end' | 'cancel' | 'promote';
  readonly server: 0 | 1;
  readonly key: 'a' | 'b';
  readonly onConflict: 'skip' | 'queue' | 'replace';
  readonly how: 'completed' | 'retry' | 'released';
  readonly pick: number;
}

const call: fc.Arbitrary<Call> = fc.record({
  act: fc.constantFrom('trigger', 'trigger', 'trigger', 'claim', 'claim', 'end', 'end', 'cancel', 'promote'),
  server: fc.constantFrom(0, 1),
  key: fc.constantFrom('a', 'b'),
  onConflict: fc.constantFrom('skip', 'queue', 'replace'),
  how: fc.constantFrom('completed', 'completed', 'retry', 'released'),
  pick: fc.nat(),
});

test('at most one run per key starts and at most one waits for it, with any concurrent events on two servers', async () => {
  const calls = fc.array(call, { minLength: 1, maxLength: 4 });
  await fc.assert(fc.asyncProperty(fc.array(calls, { minLength: 5, maxLength: 25 }), driven), {
    numRuns: numRuns(12),
    endOnFailure: true,
  });
});

async function driven(steps: readonly (readonly Call[])[]): Promise<void> {
  const t = await syncEngine();
  const servers = [testTrigger(t.engine, t.dispatch), testTrigger(t.engine, t.dispatch)];
  const env = t.environment.id;
  const attempts: { run: string; fence: number }[] = [];
  const answered = new Set<string>();

  const perform = async ({ act, server, key, onConflict, how, pick }: Call): Promise<void> => {
    if (act === 'trigger') {
      const run = await prepareRun(t.engine, t.environment, 'sync', {
        options: { singleton: { key, onConflict } },
      });
      answered.add((await servers[server]!(run)).id);
    } else if (act === 'claim') {
      attempts.push(...(await t.start(1 + (pick % 2))));
    } else if (act === 'end') {
      const [attempt] = attempts.splice(pick % Math.max(1, attempts.length), 1);
      if (!attempt) return;
      await t.end(
        attempt,
        {
          completed: { kind: 'completed', output: null, outputType: 'application/json' } as const,
          retry: { kind: 'retry', delayMs: 0, error: failed } as const,
          released: { kind: 'released' } as const,
        }[how],
      );
    } else if (act === 'cancel') {
      const live = await t.sql<{ id: string }[]>`select id from runs where status is null order by id`;
      const run = live[pick % Math.max(1, live.length)];
      if (run) await cancelRun(t.engine, t.runners, env, run.id);
    } else {
      await t.promote();
    }
  };

  const check = async (): Promise<void> => {
    const rows = await t.sql<
      { key: string; free: number; delayed: number; row: boolean; previous_live: boolean | null }[]
    >`
      select r.singleton_key as key, count(*) filter (where d.run_id is null)::int as free, count(d.run_id)::int as delayed,
             bool_or(s.run_id is not null) as row,
             bool_and(d.run_id is null or exists (select from runs p where p.env = r.env and p.id = s.previous and p.status is null))
               as previous_live
        from runs r
        left join delayed d on d.env = r.env and d.run_id = r.id and d.due = 'infinity'
        left join singletons s on s.env = r.env and s.task = r.task and s.key = r.singleton_key
       where r.status is null group by 1`;
    for (const row of rows) {
      expect(row.free).toBe(1);
      expect(row.delayed).toBeLessThanOrEqual(1);
      expect(row).toMatchObject({ row: true, previous_live: true });
    }
    expect(await t.sql`select from singletons`).toHaveLength(rows.length);
  };

  for (const calls of steps) {
    await Promise.all(calls.map(perform));
    await check();
  }
  // Every promised run ends.
  for (let round = 0; round < 20; round++) {
    t.engine.clock.shift(1);
    await t.promote();
    attempts.push(...(await t.start()));
    for (const attempt of attempts.splice(0)) await t.end(attempt);
  }
  expect(await t.sql`select id from runs where status is null`).toEqual([]);
  expect(await t.sql`select from singletons`).toEqual([]);
  const known = await t.sql<{ id: string }[]>`select id from runs`;
  expect([...answered].filter((id) => !known.some((run) => run.id === id))).toEqual([]);
  await t.close();
}
