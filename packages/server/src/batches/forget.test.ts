import { expect, onTestFinished, test } from 'vitest';
import { testDatabase } from '../../../../test/support/database.ts';
import { connect } from '../db/connect.ts';
import { batchKeeper } from './abort.ts';

const day = 86_400_000;
const clock = { now: Date.now, shift() {}, shiftedMs: 0, stop() {} };

async function batches() {
  const { connection, drop } = await testDatabase();
  const sql = connect(connection, { name: 'millrace tests', max: 1 });
  onTestFinished(async () => {
    await sql.end({ timeout: 1 });
    await drop();
  });
  /** Adds sealed batches of the given age in days; `retained` ones have a retained run. */
  const add = async (count: number, days: number, retained: boolean) => {
    await sql`
      with created as (
        insert into batches (env, id, run_count, received, created_at, sealed_at)
        select 1, 'batch_' || lpad(to_hex(n + 1000000 * ${days}::int), 21, '0') || '000', 1, 1, t.at + n * interval '1 microsecond', t.at
          from generate_series(1, ${count}::int) n, (select now() - make_interval(days => ${days})) as t (at)
        returning id
      )
      insert into runs (env, id, task, queue_id, sort_key, status, finished_at, created_at, updated_at)
      select 1, batch_prefix(m.id) || '000', 'send', 1, 1, 'COMPLETED', now(), now(), now() from created m where ${retained}`;
  };
  const count = async () =>
    (await sql<{ count: number }[]>`select count(*)::int as count from batches`)[0]?.count;
  return { sql, add, count, keeper: batchKeeper({ sql, clock }, 30 * day) };
}

test('batches without runs are deleted, even after many batches whose runs are retained longer', async () => {
  const { add, count, keeper } = await batches();
  await add(450, 90, true);
  await add(30, 60, false);
  await add(5, 10, false);
  await keeper.tick();
  await keeper.tick();
  expect(await count()).toBe(485);
  await keeper.tick();
  expect(await count()).toBe(455);
  // Then again from the beginning.
  for (let round = 0; round < 4; round++) await keeper.tick();
  expect(await count()).toBe(455);
});

test('the search for them does not read recent batches', async () => {
  const { sql, add, keeper } = await batches();
  await add(20_000, 1, false);
  await add(3, 60, false);
  await sql`analyze batches`;
  const read = async (): Promise<number> => {
    await sql`select pg_stat_force_next_flush()`;
    const [row] = await sql<{ tuples: number }[]>`
      select (seq_tup_read + idx_tup_fetch)::int as tuples from pg_stat_user_tables where relname = 'batches'`;
    return row?.tuples ?? 0;
  };
  const before = await read();
  await keeper.tick();
  expect((await read()) - before).toBeLessThan(100);
});
