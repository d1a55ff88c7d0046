import { expect, onTestFinished, test } from 'vitest';
import { databaseBefore } from '../../../../test/support/database.ts';
import { connect } from './connect.ts';
import { migrate } from './migrate.ts';

async function older() {
  const database = await databaseBefore('0017');
  const sql = connect(database.connection, { name: 'test', max: 4 });
  onTestFinished(async () => {
    await sql.end({ timeout: 1 });
    await database.drop();
  });
  const applied = () =>
    sql<{ name: string }[]>`select name from migrations where name >= '0017' order by name`;
  return { sql, applied };
}

test('a migration lets those pass who still serve, and waits for its turn', async () => {
  const { sql, applied } = await older();
  const { migrating } = await sql.begin(async (tx) => {
    // The migration locks the one first, we the other.
    await tx`lock table error_packs in row exclusive mode`;
    const coming = migrate(sql);
    const waiting = () => tx`select from pg_locks where not granted and relation = 'error_packs'::regclass`;
    await expect.poll(waiting, { timeout: 20_000, interval: 10 }).toHaveLength(1);
    await tx`insert into error_packing (env, until) select id, now() from environments`;
    expect((await applied()).map(({ name }) => name)).toEqual(['0017_claims.sql']);
    return { migrating: coming };
  });
  const names = (await migrating).applied;
  expect(names).toHaveLength((await applied()).length);
  expect((await migrate(sql)).applied).toEqual([]);
});

test('one whose turn never comes changes nothing and says what to do', async () => {
  const { sql, applied } = await older();
  await sql.begin(async (tx) => {
    await tx`lock table error_packs in row exclusive mode`;
    await expect(migrate(sql, { patienceMs: 500 })).rejects.toThrow(
      /^The migration 0018_errors\.sql could not have its locks for 0\.5 s: .* End its transaction and start again\.$/,
    );
  });
  expect((await applied()).map(({ name }) => name)).toEqual(['0017_claims.sql']);
  await migrate(sql);
});
