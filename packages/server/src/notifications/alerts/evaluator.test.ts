import { expect, test } from 'vitest';
import type { Sql } from '../../db/connect.ts';
import { lockWaiters } from '../../../../../test/support/locks.ts';
import { testEngine, type TestEngine } from '../../runs/testing/engine.ts';
import { alertEvaluator } from './evaluator.ts';

const alert = 'alert_1';

/** An alert on new errors with an endpoint, and its evaluator. */
async function fixture({ threshold = 1 } = {}) {
  const t = await testEngine();
  const { sql, engine, environment } = t;
  const now = () => new Date(engine.clock.now());
  await sql`
    insert into notification_endpoints (id, env, kind, url, types, sealed, created_at)
    values ('endpoint_1', ${environment.id}, 'slack', 'https://hooks.example.com', '{alert.*}', '', now())`;
  await sql`
    insert into alerts (id, env, kind, threshold, window_s, quiet_s, next_at, created_at)
    values (${alert}, ${environment.id}, 'error.new', ${threshold}, 300, 600, ${now()}, now())`;
  return {
    ...t,
    tick: (through: Sql = sql) => alertEvaluator({ ...engine, sql: through }).tick(),
    happens: (count: number) => addEvents(t, count, now()),
    messages: () =>
      sql<{ type: string; count: number; items: number }[]>`
        select n.type, (n.data ->> 'count')::int as count, jsonb_array_length(n.data -> 'items') as items
          from notifications n join notification_deliveries d on d.notification_id = n.id order by n.at`,
  };
}

async function addEvents({ sql, environment }: TestEngine, count: number, at: Date): Promise<void> {
  await sql`
    select add_alert_events(${environment.id}, 'error.new', 'mail', ${at}, jsonb_build_object('id', n))
      from generate_series(1, ${count}::int) n`;
}

test('one of several processes notifies once', async () => {
  const { tick, happens, messages } = await fixture();
  await happens(25);
  await Promise.all(Array.from({ length: 6 }, () => tick()));
  expect(await messages()).toEqual([{ type: 'alert.firing', count: 25, items: 10 }]);
  await Promise.all(Array.from({ length: 6 }, () => tick()));
  expect(await messages()).toHaveLength(1);
});

test('a process that dies before its commit has sent nothing, and the next one sends everything', async () => {
  const { sql, tick, happens, messages, engine } = await fixture();
  await happens(2);
  const dying: Sql = Object.assign(
    ((strings: TemplateStringsArray, ...values: unknown[]) => sql(strings, ...values)) as Sql,
    sql,
    {
      begin: (act: Parameters<Sql['begin']>[0]) =>
        sql.begin(async (tx) => {
          await act(tx);
          throw new Error('killed');
        }),
    },
  );
  await expect(tick(dying)).rejects.toThrow('killed');
  expect(await messages()).toEqual([]);
  expect(await sql`select from alert_events`).toHaveLength(2);
  // A failed check is repeated after a minute.
  engine.clock.shift(61_000);
  await tick();
  expect(await messages()).toEqual([{ type: 'alert.firing', count: 2, items: 2 }]);
});

test('events within the quiet period are reported at its end, even if they have ended by then', async () => {
  const { tick, happens, messages, engine } = await fixture({ threshold: 3 });
  await happens(3);
  await tick();
  engine.clock.shift(60_000);
  await happens(4);
  await tick();
  expect(await messages()).toHaveLength(1);
  // Further back than the window, but the threshold was reached.
  engine.clock.shift(9 * 60_000);
  await tick();
  expect(await messages()).toEqual([
    { type: 'alert.firing', count: 3, items: 3 },
    { type: 'alert.firing', count: 4, items: 4 },
  ]);
});

test('a clock that is set back does not extend the quiet period of an alert', async () => {
  const { sql, tick, happens, messages, engine } = await fixture();
  await happens(1);
  await tick();
  engine.clock.shift(-3_600_000);
  await happens(1);
  await sql`update alerts set next_at = ${new Date(engine.clock.now())}`;
  await tick();
  expect(await messages()).toHaveLength(2);
});

test('an alert deleted during an event does not make the event fail', async () => {
  const { sql, happens } = await fixture();
  const counting = await sql.begin(async (tx) => {
    await tx`delete from alerts where id = ${alert}`;
    const waits = happens(1);
    await expect.poll(() => lockWaiters(sql), { timeout: 20_000 }).toHaveLength(1);
    return { waits };
  });
  await counting.waits;
  expect(await sql`select from alert_events`).toHaveLength(0);
});

test('an alert that cannot be checked does not delay the others', async () => {
  const { sql, tick, happens, messages, environment, engine } = await fixture();
  await sql`
    insert into alerts (id, env, kind, threshold, min_runs, window_s, quiet_s, next_at, created_at)
    values ('alert_0', ${environment.id}, 'task.failureRate', 1, 1, 60, 60, '-infinity', now())`;
  await sql`alter table run_stats rename to gone`;
  await happens(1);
  await tick();
  expect(await messages()).toHaveLength(1);
  const [row] = await sql<{ next_at: Date }[]>`select next_at from alerts where id = 'alert_0'`;
  expect(row?.next_at.getTime()).toBeGreaterThan(engine.clock.now() + 50_000);
});
