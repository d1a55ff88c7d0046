import { expect, onTestFinished, test } from 'vitest';
import { testDatabase } from '../../../../test/support/database.ts';
import { column } from './columns.ts';
import { connect } from './connect.ts';
import { groupCommit } from './group.ts';

async function dates() {
  const { connection, drop } = await testDatabase();
  const sql = connect(connection, { name: 'test' });
  onTestFinished(() => sql.end().then(drop));
  await sql`create table dates (at timestamptz primary key)`;
  const writes: number[] = [];
  const write = groupCommit<Date, Date>(async (items) => {
    writes.push(items.length);
    const rows = await sql<{ at: Date }[]>`
      insert into dates (at) select at from unnest(${column(items, (at) => at)}::timestamptz[]) as i (at) returning at`;
    return rows.map((row) => row.at);
  });
  return { write, writes };
}

const day = (n: number): Date => new Date(Date.UTC(2026, 0, n));

test.each([
  ['cannot be encoded', new Date(Number.NaN)],
  ['PostgreSQL refuses', new Date(8.64e15)],
])('an item that %s rejects alone, and the others of its group are written', async (_, odd) => {
  const { write, writes } = await dates();
  const settled = await Promise.allSettled([day(1), odd, day(2)].map(write));
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(writes).toEqual([3, 1, 1, 1]);
});

test('items that violate a unique constraint fail alone', async () => {
  const { write } = await dates();
  await write(day(1));
  const settled = await Promise.allSettled([day(2), day(1), day(3)].map(write));
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});
