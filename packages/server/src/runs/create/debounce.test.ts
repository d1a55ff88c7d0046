import { describe, expect, test } from 'vitest';
import { installation } from '../../../../../test/access/installation.ts';
import { testEngine, type TestEngine } from '../testing/engine.ts';

const debounce = { key: 'k', delay: '10s' };

async function runOf(t: TestEngine, id: string) {
  const [row] = await t.sql<
    {
      payload: string;
      tags: string[] | null;
      due: Date | null;
      delayed_until: Date;
      max_attempts: number | null;
    }[]
  >`
    select r.payload, r.tags, d.due, r.delayed_until, r.max_attempts
      from runs r left join delayed d on d.run_id = r.id where r.id = ${id}`;
  return row!;
}

describe('debounced triggers', () => {
  test('delay one run, which keeps the data of the first trigger', async () => {
    const t = await testEngine();
    await t.register('send');
    const first = await t.trigger('send', { debounce, tags: ['a'] }, 1);
    const before = await runOf(t, first.id);
    t.engine.clock.shift(4_000);
    const second = await t.trigger('send', { debounce, tags: ['b'], maxAttempts: 9 }, 2);
    expect(second).toEqual({ id: first.id, isCached: false });
    const after = await runOf(t, first.id);
    expect(after.due!.getTime() - before.due!.getTime()).toBeGreaterThanOrEqual(4_000);
    expect(after.delayed_until).toEqual(after.due);
    expect(after).toMatchObject({ payload: '1', tags: ['a'], max_attempts: null });
    expect(await t.sql`select from runs`).toHaveLength(1);
    // Another key, another task, or none: another run.
    await t.trigger('send', { debounce: { ...debounce, key: 'other' } });
    await t.trigger('resize', { debounce });
    await t.trigger('send', { delay: '10s' });
    expect(await t.sql`select from runs`).toHaveLength(4);
  });

  test('replace its data with the latest in trailing mode', async () => {
    const t = await testEngine();
    const trailing = { ...debounce, mode: 'trailing' as const };
    const { id } = await t.trigger('send', { debounce: trailing, tags: ['a'], maxAttempts: 2 }, 1);
    await t.trigger('send', { debounce: trailing, tags: ['b'] }, 2);
    expect(await runOf(t, id)).toMatchObject({ payload: '2', tags: ['b'], max_attempts: null });
    // The same holds for concurrent triggers: of several in one flush, the last one applies.
    await Promise.all([3, 4, 5].map((n) => t.trigger('send', { debounce: trailing }, n)));
    expect(await runOf(t, id)).toMatchObject({ payload: '5', tags: null });
  });

  test('never delay it beyond the maximum delay, after which they create the next run', async () => {
    const t = await testEngine();
    await t.register('send');
    const limited = { ...debounce, maxDelay: '12s' };
    const { id } = await t.trigger('send', { debounce: limited });
    const [created] = await t.sql<{ at: Date }[]>`select created_at as at from runs`;
    t.engine.clock.shift(9_000);
    expect((await t.trigger('send', { debounce: limited })).id).toBe(id);
    expect((await runOf(t, id)).due!.getTime()).toBe(created!.at.getTime() + 12_000);
    t.engine.clock.shift(2_000);
    expect((await t.trigger('send', { debounce: limited })).id).toBe(id);
    t.engine.clock.shift(1_100);
    const next = await t.trigger('send', { debounce: limited });
    expect(next.id).not.toBe(id);
    await t.promote();
    expect((await runOf(t, id)).due).toBeNull();
    expect((await t.trigger('send', { debounce: limited })).id).toBe(next.id);
  });

  test('create a new run once the old one was released or canceled', async () => {
    const t = await testEngine();
    await t.register('send');
    const { id } = await t.trigger('send', { debounce });
    t.engine.clock.shift(10_001);
    await t.promote();
    const next = await t.trigger('send', { debounce });
    expect(next.id).not.toBe(id);
    await t.sql`select cancel_runs(${t.environment.id}, ${next.id}, now())`;
    expect((await t.trigger('send', { debounce })).id).not.toBe(next.id);
    expect(await t.sql`select from debounces`).toHaveLength(1);
  });

  test('are skipped if an idempotency key matches a run, which keeps both keys', async () => {
    const t = await testEngine();
    const plain = await t.trigger('send', { idempotencyKey: 'i' });
    expect(await t.trigger('send', { idempotencyKey: 'i', debounce })).toEqual({
      id: plain.id,
      isCached: true,
    });
    expect(await t.sql`select from debounces`).toHaveLength(0);
    const first = await t.trigger('send', { debounce });
    const both = await Promise.all([
      t.trigger('send', { idempotencyKey: 'j', debounce }),
      t.trigger('send', { idempotencyKey: 'k', debounce }),
    ]);
    expect(both).toEqual([
      { id: first.id, isCached: false },
      { id: first.id, isCached: false },
    ]);
    expect(await t.trigger('send', { idempotencyKey: 'j' })).toEqual({ id: first.id, isCached: true });
  });

  test('result in one run when fifty arrive simultaneously at two processes', async () => {
    const { another, ask, keys, sql } = await installation();
    const other = await another();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        ask('POST /api/v1/tasks/send/trigger', {
          key: keys.prod,
          body: { payload: n, options: { debounce } },
          ...(n % 2 === 1 && { server: other }),
        }),
      ),
    );
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.id} ${body.isCached}`)).size).toBe(1);
    expect(await sql`select from runs`).toHaveLength(1);
    const { id } = answers[0]!.body;
    const run = await ask(`GET /api/v3/runs/${id}`, { key: keys.prod });
    expect(run.body).toMatchObject({ status: 'DELAYED', delayedUntil: expect.any(String) });
    const listed = await ask('GET /api/v1/runs?filter[status]=DELAYED', { key: keys.prod });
    expect(listed.body.data).toHaveLength(1);
    expect((await ask(`GET /api/v1/runs/${id}/reason`, { key: keys.prod })).body).toMatchObject({
      reason: 'debounce',
      until: expect.any(String),
    });
  });
});
