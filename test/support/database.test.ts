import { expect, onTestFinished, test } from 'vitest';
import { connect, type Sql } from '../../packages/server/src/db/connect.ts';
import { testDatabase } from './database.ts';

async function open(): Promise<Sql> {
  const { connection, drop } = await testDatabase();
  const sql = connect(connection, { name: 'test' });
  onTestFinished(async () => {
    await sql.end();
    await drop();
  });
  return sql;
}

test('every test database is migrated and isolated from the others', async () => {
  const [first, second] = await Promise.all([open(), open()]);
  expect((await first`select name from migrations`).length).toBeGreaterThan(0);
  await first`create table mine (id integer)`;
  expect(await second`select to_regclass('mine') as found`).toEqual([{ found: null }]);
});

test('dropping a database removes it and ends its sessions', async () => {
  const { connection, drop } = await testDatabase();
  const sql = connect(connection, { name: 'test', max: 1 });
  await sql`select 1`;
  await drop();
  await expect(sql`select 1`).rejects.toThrow(/terminating connection|does not exist|CONNECTION/);
  await sql.end({ timeout: 0 });
});
