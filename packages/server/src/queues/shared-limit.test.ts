import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cancelRun } from '../runs/cancel/cancel.ts';
import { readStartConditions } from '../runs/reason/start-conditions.ts';
import { reasonOf } from '../runs/reason/reason.ts';
import { testEngine } from '../runs/testing/engine.ts';
import { createBeginWaits } from '../runs/waits/begin.ts';
import { findQueue } from './find.ts';
import { listSharedLimits, overrideSharedLimit } from './shared-limits.ts';
import { numRuns } from '../../../../test/support/long.ts';

const provider = (limit: number) => ({ name: 'provider', limit });

/** Two queues that share a limit, one of them with its own limit, and a queue that shares nothing. */
const tasks = (limit: number) => [
  { id: 'mail', queue: { name: 'mail', concurrency: provider(limit) } },
  { id: 'call', queue: { name: 'call', concurrencyLimit: 1, concurrency: provider(limit) } },
  { id: 'free', queue: { name: 'free' } },
];

async function started(limit: number) {
  const t = await testEngine();
  const { id: version } = await t.register(...tasks(limit));
  await t.addRunner('r');
  const env = t.environment.id;
  const override = (to: number | null) =>
    overrideSharedLimit(t.sql, env, 'provider', { override: to, at: new Date(t.engine.clock.now()) });
  const claim = (want: number) => t.claim('r', [version], want);
  return { t, env, version, override, claim };
}

describe('a limit that queues share', () => {
  test('applies to all of their keys together, and to no other queue', async () => {
    const { t, env, version, claim } = await started(3);
    for (let n = 0; n < 4; n++) await t.trigger('mail', { concurrencyKey: `k${n}` });
    const live = await claim(10);
    expect(live).toHaveLength(3);
    const last = await t.trigger('call');
    await t.trigger('free');
    expect(await claim(10)).toHaveLength(1);
    await t.sql`update runners set versions = ${[version]}::int[]`;
    const conditions = await readStartConditions(t.sql, env, last.id, new Date(t.engine.clock.now()));
    expect(conditions && reasonOf(conditions)).toMatchObject({
      reason: 'shared_limit',
      message: 'The shared limit "provider" of the queue "call" has been reached: 3 running, at most 3.',
      running: 3,
      limit: 3,
    });
    expect(await listSharedLimits(t.sql, env)).toEqual([
      {
        name: 'provider',
        limit: 3,
        base: 3,
        override: null,
        overriddenAt: null,
        running: 3,
        queues: ['call', 'mail'],
      },
    ]);
    const queue = await findQueue(t.sql, env, { type: 'custom', queue: 'mail' });
    expect(queue?.sharedLimit).toEqual({ name: 'provider', limit: 3, running: 3 });
    expect(await claim(10)).toEqual([]);
    // Freeing a slot wakes the claims.
    const queues = await t.sql<{ name: string; limited: boolean }[]>`
      select name, lock_limited(array[env], array[id]) as limited from queues order by name`;
    expect(queues).toEqual([
      { name: 'call', limited: true },
      { name: 'free', limited: false },
      { name: 'mail', limited: true },
    ]);
    for (const attempt of live.slice(0, 2)) await t.end(attempt);
    expect(await claim(10)).toHaveLength(2);
    // Claims have moved the lanes of the limit to its ring, but not the others.
    const rings = await t.sql<{ name: string; own: boolean }[]>`
      select distinct q.name, l.ring = q.shared_limit_id as own from lanes l join queues q on q.id = l.queue_id
       where l.ring <> 0`;
    expect(rings.length).toBeGreaterThan(0);
    expect(rings.every(({ name, own }) => own && name !== 'free')).toBe(true);
  });

  test('is overridden and reset with immediate effect', async () => {
    const { t, env, claim, override } = await started(1);
    for (let n = 0; n < 6; n++) await t.trigger('mail', { concurrencyKey: `k${n}` });
    expect(await claim(10)).toHaveLength(1);
    expect(await override(4)).toMatchObject({ limit: 4, base: 1, override: 4, running: 1 });
    expect(await claim(10)).toHaveLength(3);
    // Executing runs continue.
    expect(await override(0)).toMatchObject({ limit: 0, running: 4 });
    expect(await claim(10)).toEqual([]);
    expect(await override(null)).toMatchObject({ limit: 1, override: null, overriddenAt: null });
    expect(await override(null)).toMatchObject({ limit: 1 });
    expect(await overrideSharedLimit(t.sql, env, 'nobody', { override: 1, at: new Date() })).toBeUndefined();
  });

  test('applies together with the common limit of two versions of a key', async () => {
    const { t, version, claim } = await started(4);
    const { id: current, version: name } = await t.register(...tasks(4));
    await t.trigger('call', { lockToVersion: name });
    await t.trigger('call');
    for (let n = 0; n < 2; n++) await t.trigger('mail', { concurrencyKey: `k${n}` });
    // Both lanes of `call` share its single slot, and all lanes share the four slots of the provider.
    const first = await t.claim('r', [version, current], 10);
    const tasksOf = async (runs: readonly { run: string }[]) =>
      (
        await t.sql<{ task: string }[]>`
        select task from runs where id = any(${runs.map(({ run }) => run)}::text[]) order by task`
      ).map(({ task }) => task);
    expect(await tasksOf(first)).toEqual(['call', 'mail', 'mail']);
    expect(await claim(10)).toEqual([]);
    for (const attempt of first) await t.end(attempt);
    const second = await t.claim('r', [version, current], 10);
    expect(await tasksOf(second)).toEqual(['call']);
  });

  test('follows the declaration: the lowest of several, and none if no task names it', async () => {
    const { t, env, claim } = await started(1);
    for (let n = 0; n < 6; n++) await t.trigger('mail', { concurrencyKey: `k${n}` });
    expect(await claim(10)).toHaveLength(1);
    await t.register(
      { id: 'mail', queue: { name: 'mail', concurrency: provider(2) } },
      { id: 'call', queue: { name: 'call', concurrency: provider(4) } },
    );
    expect(await listSharedLimits(t.sql, env)).toMatchObject([{ limit: 2 }]);
    await overrideSharedLimit(t.sql, env, 'provider', { override: 0, at: new Date() });
    const { id: version } = await t.register({ id: 'mail', queue: { name: 'mail' } });
    expect(await findQueue(t.sql, env, { type: 'custom', queue: 'mail' })).toMatchObject({
      sharedLimit: null,
    });
    // Its lanes return from the ring of the limit, which has no free slot.
    expect(await t.claim('r', [version], 10)).toHaveLength(5);
    await t.register({ id: 'mail' }, { id: 'call', queue: { name: 'call' } });
    expect(await listSharedLimits(t.sql, env)).toEqual([]);
  });

  test('is limited to one per queue', async () => {
    const t = await testEngine();
    await expect(
      t.register(
        { id: 'a', queue: { name: 'q', concurrency: provider(1) } },
        { id: 'b', queue: { name: 'q', concurrency: { name: 'other', limit: 1 } } },
      ),
    ).rejects.toMatchObject({
      status: 400,
      message:
        'The queue "q" has two shared limits: "provider" in the task "a", "other" in "b". Declare only one of them.',
    });
  });

  test(
    'is never exceeded and leaves no slot unused, in any sequence of events',
    { timeout: 120_000 },
    async () => {
      const step = fc.oneof(
        {
          weight: 5,
          arbitrary: fc.record({
            act: fc.constant('trigger' as const),
            task: fc.constantFrom('mail', 'mail', 'call', 'free'),
            key: fc.constantFrom(undefined, 'a', 'b', 'c'),
            count: fc.integer({ min: 1, max: 5 }),
          }),
        },
        {
          weight: 5,
          arbitrary: fc.record({
            act: fc.constant('claim' as const),
            wants: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 3 }),
          }),
        },
        { weight: 1, arbitrary: fc.record({ act: fc.constant('end' as const), which: fc.nat() }) },
        { weight: 1, arbitrary: fc.record({ act: fc.constant('cancel' as const), which: fc.nat() }) },
        { weight: 4, arbitrary: fc.record({ act: fc.constant('wait' as const), which: fc.nat() }) },
        { weight: 3, arbitrary: fc.constant({ act: 'ready' as const }) },
        { weight: 3, arbitrary: fc.constant({ act: 'resume' as const }) },
        {
          weight: 1,
          arbitrary: fc.record({
            act: fc.constant('limit' as const),
            to: fc.option(fc.integer({ min: 0, max: 6 })),
          }),
        },
      );
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 30, maxLength: 80 }), async (steps) => {
          const { t, env, version, override } = await started(3);
          for (const runner of ['r0', 'r1', 'r2']) await t.addRunner(runner);
          const begin = createBeginWaits(t.engine, t.sql, t.dispatch, () => {});
          const live = new Map<string, { run: string; fence: number }>();
          const waiting = new Set<string>();
          const suspended = new Map<string, number>();
          let limit = 3;
          const running = async () =>
            (await listSharedLimits(t.sql, env)).reduce((sum, shared) => sum + shared.running, 0);
          const ready = async () => {
            const [row] = await t.sql<{ n: number }[]>`
            select count(*)::int as n from suspended s join queues q on q.id = s.queue_id
             where s.ready_at is not null and q.shared_limit_id is not null`;
            return row?.n ?? 0;
          };
          for (const each of steps) {
            const before = await running();
            const claimed = async (wants: readonly number[]) => {
              const all = await Promise.all(wants.map((want, n) => t.claim(`r${n}`, [version], want)));
              for (const attempt of all.flat()) {
                expect(waiting.delete(attempt.run)).toBe(true);
                live.set(attempt.run, attempt);
              }
            };
            const pick = <T>(from: Iterable<T>, which: number): T | undefined => {
              const all = [...from];
              return all[which % Math.max(1, all.length)];
            };
            switch (each.act) {
              case 'trigger':
                for (let n = 0; n < each.count; n++)
                  waiting.add((await t.trigger(each.task, each.key ? { concurrencyKey: each.key } : {})).id);
                break;
              case 'claim':
                await claimed(each.wants);
                break;
              case 'end': {
                const attempt = pick(live.values(), each.which);
                if (!attempt) break;
                await t.end(attempt);
                live.delete(attempt.run);
                break;
              }
              case 'cancel': {
                const run = pick(waiting, each.which);
                if (run === undefined) break;
                await cancelRun(t.engine, t.runners, env, run);
                waiting.delete(run);
                break;
              }
              case 'wait': {
                const attempt = pick(live.values(), each.which);
                if (!attempt) break;
                const until = t.engine.clock.now() + 3_600_000;
                const wait = { key: 'time/1', kind: 'TIME' as const, until };
                await begin({ env, run: attempt.run, fence: attempt.fence, waits: [wait] });
                live.delete(attempt.run);
                suspended.set(attempt.run, attempt.fence);
                break;
              }
              case 'ready':
                await t.sql`update suspended set ready_at = now() where ready_at is null`;
                break;
              case 'resume': {
                const rows = await t.sql<{ run_id: string; fence: string }[]>`
                select run_id, fence from resume_runs(${env}, now(), 100)`;
                for (const { run_id: run, fence } of rows) {
                  suspended.delete(run);
                  live.set(run, { run, fence: Number(fence) });
                }
                break;
              }
              case 'limit':
                await override(each.to);
                limit = each.to ?? 3;
                break;
            }
            const now = await running();
            if (now > before) expect(now).toBeLessThanOrEqual(limit);
            // The slots of ready runs are not given to others.
            if (each.act === 'claim' && now > before)
              expect(now + (await ready())).toBeLessThanOrEqual(limit);
          }
          // Ready runs go first; after that, a claim with room for all runs leaves no usable slot free.
          await t.sql`delete from suspended where ready_at is null`;
          const rows = await t.sql<{ run_id: string }[]>`select run_id from resume_runs(${env}, now(), 100)`;
          for (const { run_id: run } of rows) live.set(run, { run, fence: 0 });
          const all = await t.claim('r', [version], 1_000);
          for (const { run } of all) waiting.delete(run);
          const left = await t.sql<{ name: string }[]>`
          select q.name from runs r join queues q on q.id = r.queue_id where r.id = any(${[...waiting]})`;
          expect(left.filter(({ name }) => name === 'free')).toEqual([]);
          if (left.some(({ name }) => name === 'mail'))
            expect((await running()) + (await ready())).toBeGreaterThanOrEqual(limit);
          await t.close();
        }),
        { numRuns: numRuns(15), endOnFailure: true },
      );
    },
  );
});
