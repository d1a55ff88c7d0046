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
])('an item that %s is rejected alone, and the rest of its group is written', async (_, odd) => {
  const { write, writes } = await dates();
  const settled = await Promise.allSettled([day(1), odd, day(2)].map(write));
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(writes).toEqual([3, 1, 1, 1]);
});

test('items that violate a unique constraint fail individually', async () => {
  const { write } = await dates();
  await write(day(1));
  const settled = await Promise.allSettled([day(2), day(1), day(3)].map(write));
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

test('a conflicting write is retried with delays, and rejects after a limited number of attempts', async () => {
  const at: number[] = [];
  let conflicts = 3;
  const write = groupCommit<number, number>(async (items) => {
    at.push(performance.now());
    if (conflicts-- > 0)
      throw Object.assign(new Error('deadlock detected'), { code: '40P01', severity: 'ERROR' });
    return items;
  });
  expect(await write(1)).toBe(1);
  expect(at).toHaveLength(4);
  const pauses = at.slice(1).map((time, index) => time - (at[index] ?? 0));
  // At least half of 10, 20 and 40 ms; timers are up to a millisecond early.
  pauses.forEach((pause, index) => expect(pause).toBeGreaterThanOrEqual(5 * 2 ** index - 1));

  at.length = 0;
  conflicts = Infinity;
  await expect(write(2)).rejects.toThrow('deadlock detected');
  expect(at).toHaveLength(8);
  conflicts = 0;
  expect(await write(3)).toBe(3);
});

test('items that exceed the maximum write size go into the next write, and a large item is written separately', async () => {
  const writes: number[][] = [];
  const write = groupCommit<number, void>(
    async (items) => {
      writes.push([...items]);
      return items.map(() => undefined);
    },
    { maxSize: 10, sizeOf: (item) => item },
  );
  await Promise.all([4, 6, 1, 30, 2, 3].map(write));
  expect(writes).toEqual([[4, 6], [1], [30], [2, 3]]);
});

test('tenants take turns if not all items fit in one write, and items of one tenant stay in order', async () => {
  const writes: string[][] = [];
  const write = groupCommit<string, void>(
    async (items) => {
      writes.push([...items]);
      return items.map(() => undefined);
    },
    { maxItems: 3, tenantOf: (item) => item.charCodeAt(0) },
  );
  await Promise.all(['a1', 'a2', 'a3', 'a4', 'b1', 'a5', 'c1', 'b2'].map(write));
  expect(writes).toEqual([
    ['a1', 'b1', 'c1'],
    ['a2', 'b2', 'a3'],
    ['a4', 'a5'],
  ]);
});
