import { describe, expect, onTestFinished, test } from 'vitest';
import { testDatabase } from '../../../../test/support/database.ts';
import { pgbouncer, startPgbouncer, unlessMissing } from '../../../../test/support/pgbouncer.ts';
import { connect } from './connect.ts';
import { ping } from './ping.ts';
import { findRoutes } from './routes.ts';

async function database() {
  const { connection, drop } = await testDatabase();
  onTestFinished(drop);
  return connection;
}

test('PostgreSQL without a pooler is detected', async () => {
  const direct = await database();
  expect(await findRoutes(direct)).toEqual({
    main: { database: direct, pooler: undefined },
    direct: { database: direct, pooler: undefined },
  });
});

describe.skipIf(pgbouncer === undefined)(`with PgBouncer${unlessMissing}`, () => {
  test.each([
    ['one connection', { default_pool_size: 1 }],
    ['many', {}],
    ['round-robin connections', { server_round_robin: 1, min_pool_size: 4 }],
  ])('transaction mode of %s is detected', async (_, settings) => {
    const { url } = await startPgbouncer(await database(), 'transaction', settings);
    expect((await ping(url)).pooler).toEqual({ mode: 'transaction', namedStatements: false });
  });

  test('session mode is detected and needs no other address', async () => {
    const { url } = await startPgbouncer(await database(), 'session');
    const { main, direct } = await findRoutes(url);
    expect(main.pooler).toEqual({ mode: 'session', namedStatements: true });
    expect(direct).toEqual(main);
  });

  test('rejects session mode with too few connections, and reports the required number', async () => {
    const { url } = await startPgbouncer(await database(), 'session', { default_pool_size: 1 });
    await expect(findRoutes(url)).rejects.toThrow(/DATABASE_URL.*no free connection to PostgreSQL/);
  }, 30_000);

  test('rejects transaction mode without a direct address, by name', async () => {
    const { url } = await startPgbouncer(await database(), 'transaction');
    await expect(findRoutes(url)).rejects.toThrow(/transaction mode.*DATABASE_DIRECT_URL/);
    await expect(findRoutes(url, url)).rejects.toThrow(
      /DATABASE_DIRECT_URL points to a pooler in transaction mode/,
    );
  });

  test('rejects statement mode by name', async () => {
    const { url, directUrl } = await startPgbouncer(await database(), 'statement');
    await expect(findRoutes(url, directUrl)).rejects.toThrow(
      /DATABASE_URL points to a pooler that refuses transactions/,
    );
  });

  test('rejects two addresses of different databases', async () => {
    const { url } = await startPgbouncer(await database(), 'transaction');
    await expect(findRoutes(url, await database())).rejects.toThrow('are not the same database');
  }, 30_000);

  test('transaction mode leaves no prepared statements in the sessions of PostgreSQL', async () => {
    const upstream = await database();
    const { url } = await startPgbouncer(upstream, 'transaction', { default_pool_size: 1 });
    const { main } = await findRoutes(url, upstream);
    const sql = connect(main.database, { name: 'test', max: 4, pooler: main.pooler });
    onTestFinished(() => sql.end());
    await Promise.all(Array.from({ length: 40 }, (_, n) => sql`select ${n}::int`));
    await sql.begin(async (tx) => tx`select 1 as n`);
    expect(await sql`select name from pg_prepared_statements`).toEqual([]);
  });

  test.each(['session', 'transaction'] as const)(
    'times are read in UTC and ISO in %s mode, regardless of the settings of the role',
    async (mode) => {
      const upstream = await database();
      const admin = connect(upstream, { name: 'test', max: 1 });
      onTestFinished(() => admin.end());
      const [name] = await admin<{ name: string }[]>`select current_database() as name`;
      await admin.unsafe(`alter database ${name?.name} set timezone to 'America/St_Johns'`);
      await admin.unsafe(`alter database ${name?.name} set datestyle to 'SQL, DMY'`);
      const { url } = await startPgbouncer(upstream, mode);
      const { main } = await findRoutes(url, upstream);
      const sql = connect(main.database, { name: 'test', max: 2, pooler: main.pooler });
      onTestFinished(() => sql.end());
      const at = new Date('2026-03-04T05:06:07.089Z');
      expect(await sql`select ${at}::timestamptz as at, ${at}::timestamptz::text as text`).toEqual([
        { at, text: '2026-03-04 05:06:07.089+00' },
      ]);
    },
  );

  test('session mode works over a pooler that does not clean up prepared statements', async () => {
    const upstream = await database();
    const { url } = await startPgbouncer(upstream, 'session', {
      server_reset_query: '',
      default_pool_size: 3,
    });
    const { main } = await findRoutes(url);
    for (let times = 0; times < 4; times++) {
      const sql = connect(main.database, { name: 'test', max: 1, pooler: main.pooler });
      expect(await sql`select ${times}::int as times`).toEqual([{ times }]);
      await sql.end();
    }
  });
});
