import { afterAll, beforeAll, expect, test } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../../../test/support/database.ts';
import { connect, type Sql } from '../../db/connect.ts';
import { mergeErrorGroups } from '../merge/merge.ts';
import { deploy, groupOf, newEnvironment, recordFailures, secretKey } from '../testing/failures.ts';
import { listErrorVersions } from './versions.ts';

let database: TestDatabase;
let sql: Sql;
beforeAll(async () => {
  database = await testDatabase();
  sql = connect(database.connection, { name: 'test' });
});
afterAll(async () => {
  await sql.end();
  await database.drop();
});

const at = (minute: number): Date => new Date(Date.UTC(2026, 10, 21, 10, minute));

test('shows the version of the first occurrence, the one that was current before, and the counts of each', async () => {
  const env = await newEnvironment(sql);
  const [first, , third = 0, fourth = 0] = await deploy(
    sql,
    env,
    '20261121.1',
    '20261121.2',
    '20261121.3',
    '20261121.4',
  );
  // The second version was never current.
  await sql`update versions set promoted_at = ${at(0)} where env = ${env} and version <> '20261121.2'`;
  const fail = (minute: number, version: number | undefined, message = 'boom') =>
    recordFailures(sql, env, at(minute), [{ message, version: version ?? null }]);
  await fail(1, undefined);
  await fail(5, fourth);
  await fail(3, third);
  await fail(7, third);
  const boom = groupOf(env);
  expect(await listErrorVersions(sql, env, boom)).toEqual({
    introducedIn: { version: '20261121.3', previous: '20261121.1' },
    data: [
      { version: '20261121.4', count: 1, firstSeen: at(5).toISOString(), lastSeen: at(5).toISOString() },
      { version: '20261121.3', count: 2, firstSeen: at(3).toISOString(), lastSeen: at(7).toISOString() },
    ],
  });

  // A merged group has the versions of all its fingerprints, and its id refers to the other one.
  await fail(8, first, 'crash');
  const crash = groupOf(env, { message: 'crash' });
  await mergeErrorGroups(sql, { env, id: boom, now: () => at(9), principal: secretKey, errors: [crash] });
  const merged = await listErrorVersions(sql, env, crash);
  expect(merged).toEqual(await listErrorVersions(sql, env, boom));
  expect(merged?.data.map(({ version, count }) => [version, count])).toEqual([
    ['20261121.4', 1],
    ['20261121.3', 2],
    ['20261121.1', 1],
  ]);
});

test('an error of the first version has no version before, and one without a version none at all', async () => {
  const env = await newEnvironment(sql);
  const [first] = await deploy(sql, env, '20261121.1');
  await recordFailures(sql, env, at(1), [{ version: first ?? null }, { message: 'lost', version: null }]);
  expect(await listErrorVersions(sql, env, groupOf(env))).toMatchObject({
    introducedIn: { version: '20261121.1', previous: null },
  });
  expect(await listErrorVersions(sql, env, groupOf(env, { message: 'lost' }))).toEqual({
    introducedIn: null,
    data: [],
  });
  expect(await listErrorVersions(sql, env + 1_000, groupOf(env))).toBeUndefined();
  expect(await listErrorVersions(sql, env, 'error_none')).toBeUndefined();
});
