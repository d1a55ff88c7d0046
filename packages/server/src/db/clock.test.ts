import { expect, onTestFinished, test, vi } from 'vitest';
import { testDatabase } from '../../../../test/support/database.ts';
import { startClock } from './clock.ts';
import { connect } from './connect.ts';

test('a measurement that waited for a connection does not change the clock', async () => {
  const { connection, drop } = await testDatabase();
  const sql = connect(connection, { name: 'test', max: 1 });
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const clock = await startClock(sql);
  onTestFinished(async () => {
    clock.stop();
    vi.useRealTimers();
    await sql.end();
    await drop();
  });
  const busy = sql`select pg_sleep(3)`.then(() => {});
  vi.advanceTimersByTime(10_000);
  await busy;
  const [row] = await sql<{ now: number }[]>`
    select (extract(epoch from clock_timestamp()) * 1000)::float8 as now`;
  expect(Math.abs(clock.now() - (row?.now ?? 0))).toBeLessThan(1_000);
});
