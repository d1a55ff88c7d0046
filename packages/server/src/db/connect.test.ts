import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { withDatabase } from '../../../../test/support/cluster.ts';
import { testDatabase } from '../../../../test/support/database.ts';
import { connect } from './connect.ts';
import { DatabaseLost } from './errors.ts';

async function lossy() {
  const { connection, drop } = await testDatabase();
  const sql = connect(connection, { name: 'test lost', max: 4 });
  const admin = connect(connection, { name: 'test', max: 1 });
  onTestFinished(async () => {
    await Promise.all([sql.end(), admin.end()]);
    await drop();
  });
  const cut = async () =>
    (await admin`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'test lost'`)
      .count;
  return { sql, cut };
}

test('connections that end at any moment reject only the queries that use them', async () => {
  const { sql, cut } = await lossy();
  // If a connection ends with the last response to one user, either the next user sees the error or it remains uncaught. In the
  // latter case the process would end and this test would fail.
  let kills = 0;
  const kinds = new Set<unknown>();
  const callers = Array.from({ length: 16 }, async (_, n) => {
    while (kills < 300) {
      const query =
        n % 2 === 0
          ? sql`select ${'x'.repeat(1_000)}::text`
          : sql.begin((tx) => tx`select pg_sleep(${Math.random() / 500})`);
      await query.catch((error: unknown) => kinds.add((error as Error).constructor));
    }
  });
  while (kills < 300) kills += await cut();
  await Promise.all(callers);
  expect([...kinds]).toEqual([DatabaseLost]);
  expect(await sql`select 1 as n`).toEqual([{ n: 1 }]);
});

test('a listener that failed to start does not start later', async () => {
  const { connection, drop } = await testDatabase();
  const admin = connect(connection, { name: 'test', max: 1 });
  const database = `later_${process.pid}`;
  const later = connect(withDatabase(connection, database), { name: 'test later', max: 1 });
  onTestFinished(async () => {
    await later.end();
    await admin.unsafe(`drop database if exists ${database} with (force)`);
    await admin.end();
    await drop();
  });
  await expect(later.listen('news', () => {})).rejects.toThrow('does not exist');
  await admin.unsafe(`create database ${database}`);
  // The time of two retries.
  await pause(500);
  expect(await admin`select from pg_stat_activity where datname = ${database}`).toEqual([]);
});
