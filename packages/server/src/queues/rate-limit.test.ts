import type { RateLimit } from '@millrace/contract';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { connect } from '../db/connect.ts';
import { startPruner } from '../runs/dispatch/start-pruner.ts';
import { testEngine, type TestEngine } from '../runs/testing/engine.ts';
import { changeQueue } from './change.ts';
import { findQueue } from './find.ts';
import { listQueueKeys } from './keys.ts';
import { numRuns } from '../../../../test/support/long.ts';

const mail = { type: 'custom', queue: 'mail' } as const;
const sends = (rateLimit?: RateLimit, concurrencyLimit?: number) => ({
  id: 'send',
  queue: { name: 'mail', concurrencyLimit, ...(rateLimit && { rateLimit }) },
});

/** A database clock that the test sets: milliseconds since the start. */
async function handClock(t: TestEngine) {
  const start = Date.UTC(2026, 10, 24);
  let now = 0;
  await t.sql`create table test_clock (at timestamptz not null)`;
  await t.sql`insert into test_clock values (${new Date(start)})`;
  await t.sql`
    create or replace function rate_now() returns timestamptz language sql volatile as 'select at from test_clock'`;
  return {
    start,
    async set(ms: number) {
      now = ms;
      await t.sql`update test_clock set at = ${new Date(start + ms)}`;
    },
    now: () => now,
  };
}

async function started(rateLimit?: RateLimit, concurrencyLimit?: number) {
  const t = await testEngine();
  const clock = await handClock(t);
  const { id: version } = await t.register(sends(rateLimit, concurrencyLimit));
  await t.addRunner('r');
  const env = t.environment.id;
  const trigger = async (count: number, concurrencyKey?: string) => {
    for (let n = 0; n < count; n++) await t.trigger('send', { concurrencyKey });
  };
  /** Starts the runs that may start, after due lanes have returned. */
  const claim = async (want = 100) => {
    await t.sql`select release_rate_limited(1000)`;
    return t.claim('r', [version], want);
  };
  const at = async (ms: number, want?: number) => {
    await clock.set(ms);
    return (await claim(want)).length;
  };
  return { t, env, version, clock, trigger, claim, at };
}

/** Checks the distance between every start and the one `limit` before it. */
function expectWindows(times: readonly number[], limit: number, windowMs: number): void {
  const sorted = times.toSorted((a, b) => a - b);
  for (let n = limit; n < sorted.length; n++)
    expect(sorted[n]! - sorted[n - limit]!, `start ${n} of ${sorted.length}`).toBeGreaterThanOrEqual(
      windowMs,
    );
}

describe('a rate limit', () => {
  test('starts at most the given number of runs in a period, and the next one when the first is a period old', async () => {
    const { trigger, at } = await started({ limit: 3, period: 60 });
    await trigger(10);
    expect(await at(0)).toBe(3);
    expect(await at(59_999)).toBe(0);
    expect(await at(60_000)).toBe(3);
    expect(await at(100_000)).toBe(0);
    expect(await at(120_000, 1)).toBe(1);
    expect(await at(150_000)).toBe(2);
    expect(await at(180_000)).toBe(1);
  });

  test('spreads starts evenly with a burst of 1', async () => {
    const { trigger, at } = await started({ limit: 60, period: 60, burst: 1 });
    await trigger(5);
    const counts: number[] = [];
    for (let ms = 0; ms <= 4_000; ms += 500) counts.push(await at(ms));
    expect(counts).toEqual([1, 0, 1, 0, 1, 0, 1, 0, 1]);
  });

  test('applies to each concurrency key separately if declared so', async () => {
    const { t, env, trigger, at, clock } = await started({ limit: 2, period: 10, key: 'concurrencyKey' });
    for (const key of ['a', 'b']) await trigger(3, key);
    await trigger(3);
    expect(await at(0)).toBe(6);
    expect(await at(5_000)).toBe(0);
    const { id } = (await findQueue(t.sql, env, mail))!;
    const next = new Date(clock.start + 10_000).toISOString();
    expect(await listQueueKeys(t.sql, id, 10)).toMatchObject([
      { key: null, available: 0, nextStartAt: next },
      { key: 'a', available: 0, nextStartAt: next },
      { key: 'b', available: 0, nextStartAt: next },
    ]);
    expect(await at(10_000)).toBe(3);
    expect(await t.sql`select from lanes where rate_limited_at is not null`).toHaveLength(0);
  });

  test('of a whole queue gives each of many keys a turn', async () => {
    const { t, trigger, clock, claim } = await started({ limit: 2, period: 1 });
    for (const key of ['a', 'b', 'c', 'd', 'e']) await trigger(4, key);
    const keys: string[] = [];
    for (let second = 0; second < 10; second++) {
      await clock.set(second * 1_000);
      const claimed = await claim();
      expect(claimed).toHaveLength(2);
      for (const { run } of claimed) {
        const [row] = await t.sql<{ key: string }[]>`
          select concurrency_key as key from runs where id = ${run}`;
        keys.push(row!.key);
      }
    }
    // Five lanes share twenty starts.
    for (const key of ['a', 'b', 'c', 'd', 'e'])
      expect(keys.filter((item) => item === key).length, keys.join('')).toBe(4);
  });

  test('blocks many lanes over several claims, which wake each other, without delaying other queues', async () => {
    const limit = { limit: 1, period: 60 };
    const { t, env, trigger, at, clock } = await started(limit);
    await trigger(1);
    expect(await at(0)).toBe(1);
    await clock.set(1);
    const { id: version } = await t.register(sends(limit), 'free');
    const [mailQueue] = await t.sql<{ id: number }[]>`select id from queues where name = 'mail'`;
    const queue = mailQueue!.id;
    // 6,000 waiting keys, and 7,000 keys whose runs were canceled, ahead of a queue without a limit.
    await t.sql`
      insert into lanes (env, queue_id, key, pinned_version, turn)
      select ${env}, ${queue}, 'key ' || n, 0, n from generate_series(1, 13000) as n`;
    await t.sql`
      insert into queued (lane_id, sort_key, run_id, env)
      select id, 1, 'run_' || id, env from lanes where key like 'key %' and turn <= 6000`;
    await t.trigger('free');
    await t.sql`update lanes set turn = 2000000000 where queue_id <> ${queue}`;

    const messages: string[] = [];
    const listening = await t.sql.listen('millrace', (text) => void messages.push(text));
    onTestFinished(() => listening.unlisten());
    const blocked: number[] = [];
    let claimed = 0;
    while (claimed === 0 && blocked.length < 10) {
      claimed = (await t.claim('r', [version], 100)).length;
      const [row] = await t.sql<{ blocked: number }[]>`
        select count(*) filter (where rate_limited_at is not null)::int as blocked from lanes`;
      blocked.push(row!.blocked);
    }
    expect(claimed).toBe(1);
    expect(blocked).toEqual([expect.closeTo(5_000, -3), 6_000, 6_000]);
    // Each claim that was cut short requests the next one.
    const again = JSON.stringify({ wakes: [{ kind: 'queued', env }] });
    await expect.poll(() => messages.filter((text) => text.replaceAll(' ', '') === again)).toHaveLength(2);
    // Lanes without runs are gone, except for a few of the last claim.
    const [idle] = await t.sql<{ count: number }[]>`
      select count(*)::int as count from lanes where rate_limited_at is null and key like 'key %'`;
    expect(idle!.count).toBeLessThan(10);
  });

  test('applies together with a concurrency limit', async () => {
    const { t, trigger, claim, at } = await started({ limit: 4, period: 10 }, 1);
    for (const key of ['a', 'b', 'c']) await trigger(3, key);
    const first = await claim();
    expect(first).toHaveLength(3);
    expect(await at(1)).toBe(0);
    for (const attempt of first) await t.end(attempt);
    const second = await claim();
    expect(second).toHaveLength(1);
    await t.end(second[0]!);
    expect(await at(9_999)).toBe(0);
    expect(await at(10_000)).toBe(3);
  });

  test('starts no additional runs if runs of one key are pinned to different versions', async () => {
    const { t, trigger, claim } = await started({ limit: 50, period: 10 }, 1);
    await trigger(1, 'a');
    const [first] = await claim();
    // It is bound to its version now and waits in a different lane than later runs.
    const error = { type: 'BUILT_IN_ERROR', name: 'Error', message: 'no', stackTrace: '' } as const;
    await t.end(first!, { kind: 'retry', error, delayMs: 0 });
    await t.promote();
    await trigger(3, 'a');
    await trigger(2, 'b');
    expect(await t.sql`select distinct pinned_version from lanes where key = 'a'`).toHaveLength(2);
    const runs: string[] = [];
    for (const expected of [2, 2, 1, 1]) {
      const claimed = await claim();
      expect(claimed).toHaveLength(expected);
      for (const attempt of claimed) {
        runs.push(attempt.run);
        await t.end(attempt);
      }
    }
    expect(new Set(runs).size).toBe(6);
    expect(runs).toContain(first!.run);
    expect(await claim()).toEqual([]);
  });

  test('starts no additional runs if a claim wraps around the ring', async () => {
    const limit = { limit: 50, period: 10 };
    const { t, env, trigger } = await started(limit, 1);
    const { id: version } = await t.register(sends(limit, 1), 'other');
    await trigger(1, 'a');
    const [first] = await t.claim('r', [version], 1);
    const error = { type: 'BUILT_IN_ERROR', name: 'Error', message: 'no', stackTrace: '' } as const;
    await t.end(first!, { kind: 'retry', error, delayMs: 0 });
    await t.promote();
    await trigger(1, 'a');
    await t.trigger('other');
    // The claim begins after the lane of the other queue, and reaches it last.
    await t.sql`update lanes set turn = case when key = 'a' then 20 + pinned_version else 10 end`;
    await t.sql`
      select from claim_runs(${env}, 'r', ${[0, version]}::int[], ${version}, 10, '(15,0,)', now())`;
    const leased = await t.sql`select key from leases order by key`;
    expect(leased).toEqual([{ key: '' }, { key: 'a' }]);
  });

  test('counts every attempt, but not a claim that did not commit', async () => {
    const { t, env, version, trigger, claim, at } = await started({ limit: 2, period: 60 });
    await trigger(1);
    await t.sql
      .begin(async (tx) => {
        const rows = await tx`
          select * from claim_runs(${env}, 'r', ${[0, version]}::int[], ${version}, 5, '(-1,0,)', now())`;
        expect(rows).toHaveLength(1);
        throw new Error('the server dies here');
      })
      .catch(() => {});
    expect((await findQueue(t.sql, env, mail))!.rateLimit.available).toBe(2);
    const [first] = await claim();
    await t.end(first!, { kind: 'released' });
    const [second] = await claim();
    expect(second!.run).toBe(first!.run);
    const error = { type: 'BUILT_IN_ERROR', name: 'Error', message: 'no', stackTrace: '' } as const;
    await t.end(second!, { kind: 'retry', error, delayMs: 0 });
    await t.promote();
    expect(await at(59_000)).toBe(0);
    expect(await at(60_000)).toBe(1);
  });

  test('takes effect immediately when it is set, changed, lifted or reset', async () => {
    const { t, env, trigger, at } = await started({ limit: 1, period: 60 });
    const now = new Date();
    const base = { limit: 1, period: 60, burst: 1 };
    await trigger(20);
    expect(await at(0)).toBe(1);
    expect(await at(1)).toBe(0);
    const faster: RateLimit = { limit: 5, period: 60, burst: 5 };
    const override = await changeQueue(t.sql, env, mail, { rateLimit: faster, at: now });
    expect(override!.rateLimit).toMatchObject({ current: faster, base, override: faster, available: 4 });
    expect(await at(2)).toBe(4);
    expect(await at(3)).toBe(0);
    const lifted = await changeQueue(t.sql, env, mail, { rateLimit: null, at: now });
    expect(lifted!.rateLimit).toMatchObject({
      current: null,
      base,
      override: null,
      isOverridden: true,
      available: null,
      nextStartAt: null,
    });
    expect(await at(4, 2)).toBe(2);
    const reset = await changeQueue(t.sql, env, mail, { rateLimit: undefined, at: now });
    expect(reset!.rateLimit).toMatchObject({ current: base, isOverridden: false, overriddenAt: null });
    expect(await at(5)).toBe(0);
    await t.register(sends());
    expect((await findQueue(t.sql, env, mail))!.rateLimit.current).toBeNull();
  });

  test('of a queue shared by several tasks is the slowest declared one', async () => {
    const { t, env } = await started();
    await t.register(
      { ...sends({ limit: 10, period: 1 }), id: 'one' },
      { ...sends({ limit: 60, period: 60, burst: 2 }), id: 'two' },
      { ...sends({ limit: 1, period: 1 }), id: 'three' },
      { ...sends(), id: 'four' },
    );
    const expected = { limit: 1, period: 1, burst: 1 };
    expect((await findQueue(t.sql, env, mail))!.rateLimit.current).toEqual(expected);
  });

  test('starts nothing early when the clock is set back', async () => {
    const { trigger, at } = await started({ limit: 2, period: 10 });
    await trigger(10);
    expect(await at(3_600_000)).toBe(2);
    expect(await at(3_601_000)).toBe(0);
    // The clock is set back by an hour, and no run starts early.
    expect(await at(1_000)).toBe(0);
    expect(await at(3_609_999)).toBe(0);
    expect(await at(3_610_000)).toBe(2);
  });

  test('does not retain unneeded starts, and rechecks lanes blocked by a clock that was set back', async () => {
    const { t, env, trigger, clock, at } = await started({ limit: 1, period: 10, key: 'concurrencyKey' });
    const pruner = startPruner(t.engine);
    const storedKeys = async () =>
      (await t.sql`select key from queue_starts order by key`).map(({ key }) => key as string);
    for (const key of ['a', 'b', 'c']) await trigger(1, key);
    expect(await at(3_600_000)).toBe(3);
    await trigger(1, 'c');
    expect(await at(3_601_000)).toBe(0);
    await clock.set(3_609_999);
    expect(await pruner.tick()).toBe(false);
    expect(await storedKeys()).toEqual(['a', 'b', 'c']);
    await clock.set(3_610_000);
    await pruner.tick();
    // The last one holds a lane.
    expect(await storedKeys()).toEqual(['c']);
    await clock.set(0);
    await pruner.tick();
    // It starts ten seconds after the recheck.
    expect(await at(0)).toBe(0);
    expect(await at(10_000)).toBe(1);
    await changeQueue(t.sql, env, mail, { rateLimit: null, at: new Date() });
    await pruner.tick();
    expect(await storedKeys()).toEqual([]);
  });

  test('is the same for claims at full speed and for one run at a time, in any sequence of events', async () => {
    const step = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({ act: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 4_000 }) }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ act: fc.constant('back' as const), ms: fc.integer({ min: 1, max: 20_000 }) }),
      },
      {
        weight: 4,
        arbitrary: fc.record({
          act: fc.constant('claim' as const),
          wants: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 3 }),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ act: fc.constant('die' as const), want: fc.integer({ min: 1, max: 6 }) }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          act: fc.constant('trigger' as const),
          key: fc.constantFrom('', 'a', 'b'),
          count: fc.integer({ min: 1, max: 8 }),
        }),
      },
    );
    const limit = fc.constantFrom<RateLimit>(
      { limit: 6, period: 10 },
      { limit: 6, period: 10, burst: 1 },
      { limit: 6, period: 10, burst: 4 },
      { limit: 3, period: 10, key: 'concurrencyKey' },
      { limit: 10, period: 10, burst: 2, key: 'concurrencyKey' },
    );
    await fc.assert(
      fc.asyncProperty(limit, fc.array(step, { minLength: 10, maxLength: 60 }), async (rate, steps) => {
        const { t, env, version, trigger, clock } = await started(rate);
        for (const runner of ['r0', 'r1', 'r2']) await t.addRunner(runner);
        const burst = rate.burst ?? rate.limit;
        const windowMs = Math.ceil((rate.period * 1_000) / Math.floor(rate.limit / burst));
        /** A time that only moves forward, and how far the clock is behind it. */
        let passed = 0;
        let behind = 0;
        let waiting = 0;
        const starts = new Map<string, number[]>();
        const claim = (runner: string, want: number, sql = t.sql) =>
          sql<{ concurrency_key: string | null }[]>`
            select * from claim_runs(${env}, ${runner}, ${[0, version]}::int[], ${version}, ${want}, '(-1,0,)',
                                     ${new Date(t.engine.clock.now())})`;
        const note = (rows: readonly { concurrency_key: string | null }[]) => {
          for (const { concurrency_key: key } of rows) {
            const name = rate.key ? (key ?? '') : '';
            starts.set(name, [...(starts.get(name) ?? []), passed]);
          }
          waiting -= rows.length;
        };
        const tick = () => clock.set(passed - behind);
        for (const each of steps) {
          switch (each.act) {
            case 'pass':
              passed += each.ms;
              break;
            case 'back':
              behind += each.ms;
              break;
            case 'trigger':
              await trigger(each.count, each.key || undefined);
              waiting += each.count;
              break;
            case 'claim': {
              await tick();
              await t.sql`select release_rate_limited(1000)`;
              const claims = each.wants.map((want, n) => claim(`r${n}`, want));
              for (const rows of await Promise.all(claims)) note(rows);
              break;
            }
            case 'die':
              await tick();
              await t.sql
                .begin(async (tx) => {
                  await claim('r', each.want, tx as unknown as typeof t.sql);
                  throw new Error('the server dies here');
                })
                .catch(() => {});
              break;
          }
          const [stuck] = await t.sql<{ count: number }[]>`
            select count(*)::int from lanes l join queues q on q.id = l.queue_id
             where l.rate_limited_at is not null and (not l.blocked or not exists (
               select from queue_starts s where s.queue_id = l.queue_id and s.due is not null
                  and s.key = case when q.rate_by_key then l.key else '' end))`;
          expect(stuck!.count).toBe(0);
          const [longest] = await t.sql<{ max: number | null }[]>`
            select max(cardinality(at)) as max from queue_starts`;
          expect(longest!.max ?? 0).toBeLessThanOrEqual(19);
        }
        for (const times of starts.values()) {
          expectWindows(times, burst, windowMs - 1);
          expectWindows(times, rate.limit, rate.period * 1_000);
        }
        // No run is blocked forever: after the clock has caught up, each window starts a full burst.
        passed += behind + windowMs * 2;
        behind = 0;
        const groups = rate.key ? 3 : 1;
        for (let round = 0; waiting > 0; round++) {
          expect(round).toBeLessThan(500);
          await tick();
          const before = waiting;
          await t.sql`select release_rate_limited(1000)`;
          note(await claim('r', 100));
          expect(before - waiting).toBeGreaterThanOrEqual(Math.min(before, groups === 1 ? burst : 1));
          passed += windowMs;
        }
        await t.close();
      }),
      { numRuns: numRuns(30) },
    );
  }, 120_000);

  test('is exact while three servers claim concurrently and one of them dies repeatedly', async () => {
    const t = await testEngine();
    const { id: version } = await t.register(sends({ limit: 40, period: 1, burst: 10 }));
    const env = t.environment.id;
    await t.sql`alter table leases add column test_at timestamptz not null default clock_timestamp()`;
    for (let n = 0; n < 150; n++) await t.trigger('send', { concurrencyKey: `key ${n % 7}` });
    const until = performance.now() + 2_100;
    const server = async (n: number): Promise<void> => {
      await t.addRunner(`r${n}`);
      const sql = connect(t.database, { name: `server ${n}`, max: 1 });
      onTestFinished(() => sql.end({ timeout: 1 }));
      while (performance.now() < until) {
        await sql`select release_rate_limited(1000)`.catch(() => {});
        await sql`
          select * from claim_runs(${env}, ${`r${n}`}, ${[0, version]}::int[], ${version}, 5, '(-1,0,)', now())`.catch(
          () => {},
        );
      }
    };
    const killer = async (): Promise<void> => {
      while (performance.now() < until) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        await t.sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'server 2'`;
      }
    };
    await Promise.all([server(0), server(1), server(2), killer()]);
    const rows = await t.sql<{ ms: number }[]>`
      select extract(epoch from test_at)::float8 * 1000 as ms from leases order by 1`;
    const times = rows.map(({ ms }) => ms);
    // Never more than the limit, but not much less either: two seconds of 40, plus the burst at the start.
    expect(times.length).toBeGreaterThanOrEqual(60);
    expectWindows(times, 10, 249.99);
    expectWindows(times, 40, 999.99);
  });
});
