import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { connect } from '../../db/connect.ts';
import { pruneRows } from '../../app/testing/prune-rows.ts';
import { testEngine, testTrigger, type TestEngine } from '../testing/engine.ts';
import { prepareRun, type TriggerRequest } from './prepare.ts';
import { numRuns } from '../../../../../test/support/long.ts';

type Options = TriggerRequest['options'];

/** The clock of limits, moved by the test, in milliseconds since its start. */
async function moveClock(t: TestEngine) {
  const start = Date.parse('2030-01-01');
  await t.sql`create table test_clock (at timestamptz not null)`;
  await t.sql`insert into test_clock values (${new Date(start)})`;
  await t.sql`
    create or replace function rate_now() returns timestamptz language sql volatile as 'select at from test_clock'`;
  return {
    iso: (ms: number) => new Date(start + ms).toISOString(),
    set: (ms: number) => t.sql`update test_clock set at = ${new Date(start + ms)}`,
  };
}

const call = async (t: TestEngine, trigger: ReturnType<typeof testTrigger>, options?: Options) =>
  trigger(await prepareRun(t.engine, t.environment, 'mail', { options }, { isLimited: true }));

const minute = { limit: 2, period: 60 };

describe('triggers with a limit', () => {
  test('above the limit are rejected with the time of the next one, and their keys remain free', async () => {
    const t = await testEngine();
    const clock = await moveClock(t);
    const trigger = testTrigger(t.engine, t.dispatch);
    const limited = { triggerLimit: { rate: minute } };
    const first = await call(t, trigger, { ...limited, idempotencyKey: 'one' });
    await clock.set(20_000);
    await call(t, trigger, limited);
    // A trigger that resolves to an existing run is not counted.
    expect(await call(t, trigger, { ...limited, idempotencyKey: 'one' })).toEqual({
      id: first.id,
      isCached: true,
    });
    await expect(call(t, trigger, { ...limited, idempotencyKey: 'two' })).rejects.toMatchObject({
      status: 429,
      retry: false,
      message: `The trigger limit of the task "mail" has been reached. The next trigger is accepted at ${clock.iso(60_000)}.`,
      extra: { code: 'trigger_limit_exceeded', retryAt: clock.iso(60_000) },
    });
    expect(await t.sql`select key from idempotency_keys`).toEqual([{ key: 'one' }]);
    // Another key or other numbers form another limit.
    await call(t, trigger, { triggerLimit: { key: 'ada', rate: minute } });
    await call(t, trigger, { triggerLimit: { rate: { limit: 3, period: 60 } } });
    await clock.set(60_000);
    expect(await call(t, trigger, { ...limited, idempotencyKey: 'two' })).toMatchObject({ isCached: false });
    await expect(call(t, trigger, limited)).rejects.toMatchObject({ status: 429 });
  });

  test('are dropped if the task declares it, unless a caller waits for their run', async () => {
    const t = await testEngine();
    await t.register({ id: 'mail', triggerLimit: { rate: { limit: 1, period: 60 }, onExceed: 'drop' } });
    const trigger = testTrigger(t.engine, t.dispatch);
    await call(t, trigger);
    const many = await Promise.all([1, 2, 3].map(() => call(t, trigger)));
    expect(many).toEqual(many.map(() => ({ id: '', isCached: false, isDropped: true })));
    expect(await t.sql`select from runs`).toHaveLength(1);
    await expect(call(t, trigger, { waitKey: 'w' })).rejects.toMatchObject({ status: 429 });
    await expect(call(t, trigger, { triggerLimit: { onExceed: 'refuse' } })).rejects.toMatchObject({
      status: 429,
    });
    // Only API calls are limited, not replays, events, schedules, batches or transactions.
    await t.trigger('mail');
    expect(await t.sql`select from runs`).toHaveLength(2);
  });

  test('are spread evenly with a burst of one', async () => {
    const t = await testEngine();
    const clock = await moveClock(t);
    const trigger = testTrigger(t.engine, t.dispatch);
    const accepted: number[] = [];
    for (let ms = 0; ms < 60_000; ms += 5_000) {
      await clock.set(ms);
      const { isDropped } = await call(t, trigger, {
        triggerLimit: { rate: { limit: 4, period: 60, burst: 1 }, onExceed: 'drop' },
      });
      if (!isDropped) accepted.push(ms);
    }
    expect(accepted).toEqual([0, 15_000, 30_000, 45_000]);
  });

  test('require a rate from the task or the trigger', async () => {
    const t = await testEngine();
    await expect(
      call(t, testTrigger(t.engine, t.dispatch), { triggerLimit: { key: 'ada' } }),
    ).rejects.toMatchObject({
      status: 422,
      message: expect.stringMatching(/^options\.triggerLimit\.rate: /),
    });
  });

  test('leave no rows behind when their period has passed', async () => {
    const t = await testEngine();
    const clock = await moveClock(t);
    await call(t, testTrigger(t.engine, t.dispatch), { triggerLimit: { rate: minute } });
    await pruneRows(t.engine);
    expect(await t.sql`select from trigger_starts`).toHaveLength(1);
    await clock.set(60_000);
    await pruneRows(t.engine);
    expect(await t.sql`select from trigger_starts`).toEqual([]);
  });
});

test('never exceed the limit in any period, with three servers, broken connections and clock steps', async () => {
  const step = fc.record({
    moveMs: fc.oneof(fc.integer({ min: 0, max: 4_000 }), fc.integer({ min: -3_000, max: 20_000 })),
    calls: fc.array(fc.record({ server: fc.constantFrom(0, 1, 2), key: fc.constantFrom('a', 'b') }), {
      minLength: 1,
      maxLength: 8,
    }),
    killed: fc.boolean(),
  });
  const rate = fc.constantFrom(
    { limit: 3, period: 10 },
    { limit: 4, period: 10, burst: 2 },
    { limit: 5, period: 10, burst: 1 },
  );
  await fc.assert(
    fc.asyncProperty(rate, fc.array(step, { minLength: 4, maxLength: 12 }), async (of, steps) => {
      const t = await testEngine();
      const clock = await moveClock(t);
      const pools = [0, 1, 2].map(() => connect(t.database, { name: 'test', max: 2 }));
      onTestFinished(async () => void (await Promise.all(pools.map((sql) => sql.end({ timeout: 1 })))));
      const servers = pools.map((sql) => testTrigger({ ...t.engine, sql }, t.dispatch));
      let at = 0;
      // The elapsed time counts. A clock that is set back repeats some of it.
      let passed = 0;
      for (const { moveMs, calls, killed } of steps) {
        at = Math.max(0, at + moveMs);
        passed += Math.max(0, moveMs);
        await clock.set(at);
        const ended = Promise.allSettled(
          calls.map(({ server, key }) =>
            call(t, servers[server]!, { triggerLimit: { key, rate: of }, tags: [key, `at ${passed}`] }),
          ),
        );
        if (killed) {
          await t.sql`
            select pg_terminate_backend(pid) from pg_stat_activity
             where datname = current_database() and pid <> pg_backend_pid() and query like '%limit_triggers%'`;
        }
        await ended;
        const rows = await t.sql<{ key: string; times: number[] }[]>`
          select tags[1] as key, array_agg(substr(tags[2], 4)::float8 order by substr(tags[2], 4)::float8) as times
            from runs group by 1`;
        for (const { times } of rows) {
          for (const [index, time] of times.entries()) {
            const within = times.slice(index).filter((other) => other < time + of.period * 1_000).length;
            expect(within).toBeLessThanOrEqual(of.limit);
          }
        }
      }
      await t.close();
    }),
    { numRuns: numRuns(12), endOnFailure: true },
  );
});
