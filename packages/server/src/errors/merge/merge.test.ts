import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { listErrors } from '@millrace/contract';
import { testDatabase, type TestDatabase } from '../../../../../test/support/database.ts';
import { connect, type Sql } from '../../db/connect.ts';
import { listErrorGroups } from '../list/list.ts';
import { ignoreErrorGroup } from '../life/ignore.ts';
import { resolveErrorGroup } from '../life/resolve.ts';
import { retrieveErrorGroup } from '../list/retrieve.ts';
import {
  deploy,
  groupOf,
  newEnvironment,
  recordFailures,
  userToken,
  type Failure,
} from '../testing/failures.ts';
import { listFingerprints } from './fingerprints.ts';
import { mergeErrorGroups } from './merge.ts';
import { splitErrorGroup } from './split.ts';
import { numRuns } from '../../../../../test/support/long.ts';

let database: TestDatabase;
let sql: Sql;
let env: number;
beforeAll(async () => {
  database = await testDatabase();
  sql = connect(database.connection, { name: 'test' });
});
afterAll(async () => {
  await sql.end();
  await database.drop();
});
beforeEach(async () => {
  env = await newEnvironment(sql);
});

const start = Date.parse('2026-11-21T10:00:00.000Z');
const second = (seconds: number) => new Date(start + seconds * 1_000);
const fail = (seconds: number, ...failures: Failure[]) => recordFailures(sql, env, second(seconds), failures);
const id = (message: string, task?: string) => groupOf(env, { message, ...(task && { task }) });
const change = (message: string) => ({ env, id: id(message), now: () => second(100), principal: userToken });
const merge = (into: string, ...others: string[]) =>
  mergeErrorGroups(sql, { ...change(into), errors: others.map((other) => id(other)) });
const split = (from: string, ...fingerprints: string[]) =>
  splitErrorGroup(sql, { ...change(from), fingerprints });
const show = (message: string) => retrieveErrorGroup(sql, env, id(message), second(200));
const listed = async () => {
  const query = listErrors.query.parse({});
  const { data } = await listErrorGroups(sql, { env, query, now: second(200) });
  return Object.fromEntries(data.map((group) => [group.errorMessage, group.count]));
};

describe('a merge', () => {
  test('adds up the counts, including later failures', async () => {
    await fail(1, { message: 'a' });
    await fail(2, { message: 'b' }, { message: 'b' });
    expect(await merge('a', 'b')).toMatchObject({
      id: id('a'),
      errorMessage: 'a',
      count: 3,
      firstSeen: second(1).toISOString(),
      lastSeen: second(2).toISOString(),
    });
    await fail(3, { message: 'b' });
    expect(await listed()).toEqual({ a: 4 });
    expect(await listFingerprints(sql, env, id('b'))).toMatchObject([
      { fingerprint: 'a', count: 1 },
      { fingerprint: 'b', errorMessage: 'b', count: 3 },
    ]);
  });

  test('is visible in the fingerprints of the list, on request', async () => {
    await fail(1, { message: 'a' }, { message: 'b' }, { message: 'c' });
    await merge('b', 'a');
    const fingerprints = async (parameters: object) => {
      const query = listErrors.query.parse({ sort: 'firstSeen', ...parameters });
      const { data } = await listErrorGroups(sql, { env, query, now: second(200) });
      return Object.fromEntries(data.map((group) => [group.errorMessage, group.fingerprints]));
    };
    expect(await fingerprints({ fingerprints: 'true' })).toEqual({ b: ['b', 'a'], c: ['c'] });
    expect(await fingerprints({})).toEqual({ b: undefined, c: undefined });
  });

  test('makes the ids of all groups resolve to the target, even through a second merge', async () => {
    await fail(1, { message: 'a' }, { message: 'b' }, { message: 'c' });
    await merge('b', 'c');
    await merge('a', 'c');
    for (const message of ['a', 'b', 'c'])
      expect(await show(message)).toMatchObject({ id: id('a'), count: 3 });
    expect(await resolveErrorGroup(sql, change('c'))).toMatchObject({ id: id('a'), status: 'resolved' });
    expect(await merge('a', 'b', 'c')).toMatchObject({ count: 3 });
  });

  test('shows the versions of all groups, newest first, at most five', async () => {
    const versions = await deploy(sql, env, '1', '2', '3', '4', '5', '6', '7');
    await fail(1, ...versions.map((version, index) => ({ version, message: index % 2 === 0 ? 'a' : 'b' })));
    await fail(2, { version: versions[6], message: 'b' });
    expect((await merge('a', 'b'))?.affectedVersions).toEqual(['7', '6', '5', '4', '3']);
  });

  test('keeps the state of the target, which regresses on any of its errors', async () => {
    await fail(1, { message: 'a' }, { message: 'b' });
    await resolveErrorGroup(sql, change('a'));
    await ignoreErrorGroup(sql, { ...change('b'), limits: {} });
    expect(await merge('a', 'b')).toMatchObject({ status: 'resolved', ignoredAt: null });
    await fail(150, { message: 'b', started: second(140) });
    expect(await show('a')).toMatchObject({ status: 'unresolved' });
    const audit = await sql`
      select group_id, act, user_id, before ->> 'status' as status from error_audit where env = ${env} order by id`;
    expect([...audit].slice(2)).toEqual([
      { group_id: id('b'), act: 'merged', user_id: 'user_ann', status: 'ignored' },
      { group_id: id('a'), act: 'merged', user_id: 'user_ann', status: 'resolved' },
      { group_id: id('a'), act: 'regressed', user_id: null, status: 'resolved' },
    ]);
  });

  test('continues the count of further occurrences of an ignored group', async () => {
    await fail(1, { message: 'a' }, { message: 'b' }, { message: 'b' });
    await ignoreErrorGroup(sql, { ...change('a'), limits: { totalOccurrences: 2 } });
    await merge('a', 'b');
    await fail(150, { message: 'b' });
    expect(await show('a')).toMatchObject({ status: 'ignored' });
    await fail(151, { message: 'a' });
    expect(await show('a')).toMatchObject({ status: 'unresolved' });
  });

  test('is rejected across tasks and for unknown groups, and changes nothing', async () => {
    await fail(1, { message: 'a' }, { message: 'b', task: 'other' });
    await expect(mergeErrorGroups(sql, { ...change('a'), errors: [id('b', 'other')] })).rejects.toMatchObject(
      { status: 422, message: expect.stringMatching(/^errors: .* belongs to the task other/) },
    );
    for (const error of ['error_0000000000000000', 'nonsense']) {
      await expect(mergeErrorGroups(sql, { ...change('a'), errors: [error] })).rejects.toMatchObject({
        status: 404,
        message: expect.stringContaining(error),
      });
    }
    expect(
      await mergeErrorGroups(sql, { ...change('a'), id: 'error_0000000000000000', errors: [id('a')] }),
    ).toBeUndefined();
    expect(await listed()).toEqual({ a: 1, b: 1 });
  });
});

describe('a split', () => {
  test('moves a fingerprint out under its original id, with all past and future counts', async () => {
    await fail(1, { message: 'a' });
    await fail(2, { message: 'b' }, { message: 'c' });
    await merge('a', 'b', 'c');
    expect(await split('a', 'b')).toMatchObject({
      id: id('b'),
      errorMessage: 'b',
      count: 1,
      firstSeen: second(2).toISOString(),
    });
    await fail(3, { message: 'b' });
    expect(await listed()).toEqual({ a: 2, b: 2 });
    expect(await show('c')).toMatchObject({ id: id('a'), lastSeen: second(2).toISOString() });
  });

  test('makes the ids of the moved groups resolve to the new group', async () => {
    await fail(1, { message: 'a' }, { message: 'b' }, { message: 'c' });
    await merge('a', 'b', 'c');
    await split('a', 'b', 'c');
    expect(await show('c')).toMatchObject({ id: id('b'), count: 2 });
    expect(await listed()).toEqual({ a: 1, b: 2 });
  });

  test('copies the state, so that nothing reopens', async () => {
    await fail(1, { message: 'a' }, { message: 'b' });
    await merge('a', 'b');
    await resolveErrorGroup(sql, { ...change('a'), version: '9' });
    expect(await split('a', 'b')).toMatchObject({ status: 'resolved', resolvedInVersion: '9' });
  });

  test("is rejected for the group's own fingerprint and for one it does not have", async () => {
    await fail(1, { message: 'a' }, { message: 'b' });
    await merge('a', 'b');
    await expect(split('a', 'a')).rejects.toMatchObject({ status: 422 });
    await expect(split('a', 'c')).rejects.toMatchObject({
      status: 404,
      message: 'fingerprints: the group has no c',
    });
    expect(await listed()).toEqual({ a: 2 });
  });
});

test('a fingerprint of a later algorithm joins the resolved group of the older one, unless it was resolved long ago', async () => {
  await fail(1, { message: 'a' }, { message: 'old' });
  await resolveErrorGroup(sql, { ...change('a'), version: '20991231.1' });
  await fail(150, { message: "a'", older: ['unknown', 'a'] });
  expect(await show('a')).toMatchObject({ status: 'resolved', count: 2 });
  const later = 91 * 86_400;
  await fail(later, { message: "old'", older: ['old'] });
  expect(await listed()).toEqual({ a: 2, old: 1, "old'": 1 });
});

test('merges and splits during failures neither lose nor double-count any', async () => {
  const messages = ['a', 'b', 'c', 'd'];
  const act = fc.oneof(
    fc.record({ kind: fc.constant('merge' as const), into: fc.nat(3), other: fc.nat(3) }),
    fc.record({ kind: fc.constant('split' as const), from: fc.nat(3), other: fc.nat(3) }),
    fc.record({
      kind: fc.constant('fail' as const),
      times: fc.integer({ min: 1, max: 5 }),
      message: fc.nat(3),
    }),
    fc.record({ kind: fc.constant('list' as const) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 20, maxLength: 40 }), async (acts) => {
      env = await newEnvironment(sql);
      await fail(0, ...messages.map((message) => ({ message })));
      let failed = messages.length;
      const named = (index: number) => messages[index] as string;
      // Concurrently, over several connections.
      await Promise.all(
        acts.map(async (perform, index) => {
          if (perform.kind === 'fail') {
            failed += perform.times;
            const failure = { message: named(perform.message) };
            await fail(index, ...Array.from({ length: perform.times }, () => failure));
          } else if (perform.kind === 'merge') await merge(named(perform.into), named(perform.other));
          else if (perform.kind === 'list') await listed();
          else {
            // The race decides whether it is part of the group.
            await split(named(perform.from), named(perform.other)).catch((error: { status?: number }) =>
              expect([404, 422]).toContain(error.status),
            );
          }
        }),
      );
      const counts = Object.values(await listed());
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(failed);
      const [row] = await sql`
        select count(*)::int as wrong from error_groups g
         where g.env = ${env} and g.total <> coalesce((
                 select sum(f.total) from error_fingerprints f where f.env = g.env and f.group_id = g.id), 0)`;
      expect(row).toEqual({ wrong: 0 });
    }),
    { numRuns: numRuns(15) },
  );
}, 120_000);
