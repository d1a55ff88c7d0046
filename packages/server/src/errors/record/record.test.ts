import { afterAll, beforeAll, expect, test } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../../../test/support/database.ts';
import { connect, type Sql } from '../../db/connect.ts';
import { retrieveErrorGroup } from '../list/retrieve.ts';
import { deploy, groupOf, newEnvironment, recordFailures } from '../testing/failures.ts';

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

const at = new Date('2026-11-21T10:00:00.123Z');
const later = new Date('2026-11-21T10:00:05.456Z');

test('a group has its number of failed runs, the first and last occurrence, and the versions, newest deployment first', async () => {
  const env = await newEnvironment(sql);
  const versions = await deploy(sql, env, '20261121.9', '20261121.10', 'a', 'b', 'c', 'd');
  await recordFailures(
    sql,
    env,
    at,
    versions.map((version) => ({ version })),
  );
  await recordFailures(sql, env, later, [{ version: versions[0] }, { version: null }]);
  const group = await retrieveErrorGroup(sql, env, groupOf(env), later);
  expect(group).toMatchObject({
    taskIdentifier: 'task',
    errorType: 'Error',
    errorMessage: 'boom',
    status: 'unresolved',
    count: 8,
    firstSeen: at.toISOString(),
    lastSeen: later.toISOString(),
    affectedVersions: ['d', 'c', 'b', 'a', '20261121.10'],
  });
});

test('the group and the occurrence are created by the transaction that ends the run, or not at all', async () => {
  const env = await newEnvironment(sql);
  await expect(
    sql.begin(async (transaction) => {
      await recordFailures(transaction, env, at, [{}]);
      throw new Error('the run did not end');
    }),
  ).rejects.toThrow('the run did not end');
  expect(await retrieveErrorGroup(sql, env, groupOf(env), later)).toBeUndefined();
  const [row] = await sql`select count(*)::int as count from error_arrivals where env = ${env}`;
  expect(row).toEqual({ count: 0 });
});

test('the first failure of a group is stored as thrown', async () => {
  const env = await newEnvironment(sql);
  await recordFailures(sql, env, at, [{}]);
  await recordFailures(sql, env, later, [{}]);
  const samples = await sql`
    select s.type, s.message, s.sample from error_samples s join error_fingerprints f on f.id = s.fingerprint_id
     where f.env = ${env}`;
  expect([...samples]).toEqual([{ type: 'Error', message: 'boom', sample: { message: 'boom' } }]);
});

test('processes that record the same groups in any order at the same time neither deadlock nor miscount', async () => {
  const env = await newEnvironment(sql);
  const [version = 0] = await deploy(sql, env, '1');
  const messages = Array.from({ length: 12 }, (_, index) => `message ${index}`);
  await Promise.all(
    Array.from({ length: 40 }, async (_, call) => {
      const turned = [...messages.slice(call % 12), ...messages.slice(0, call % 12)];
      await recordFailures(
        sql,
        env,
        new Date(at.getTime() + ((call * 7) % 13)),
        turned.flatMap((message) => [
          { message, version },
          { message, version },
        ]),
      );
    }),
  );
  for (const message of messages) {
    expect(await retrieveErrorGroup(sql, env, groupOf(env, { message }), later)).toMatchObject({ count: 80 });
  }
});
