import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../../../test/support/database.ts';
import type { ErrorStatus } from '@millrace/contract';
import { connect, type Sql } from '../../db/connect.ts';
import { ignoreErrorGroup, type Ignore } from './ignore.ts';
import { endLapsedIgnores } from './lapse.ts';
import { resolveErrorGroup } from './resolve.ts';
import { retrieveErrorGroup } from '../list/retrieve.ts';
import { tally } from '../record/tally.ts';
import {
  deploy,
  groupOf,
  newEnvironment,
  recordFailures,
  secretKey,
  userToken,
  type Failure,
} from '../testing/failures.ts';
import { unresolveErrorGroup } from './unresolve.ts';

let database: TestDatabase;
let sql: Sql;
let env: number;
let id: string;
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
  id = groupOf(env);
  await fail(0);
});

const start = Date.parse('2026-11-21T10:00:00.000Z');
const second = (seconds: number) => new Date(start + seconds * 1_000);
const fail = (seconds: number, ...failures: Failure[]) =>
  recordFailures(sql, env, second(seconds), failures.length === 0 ? [{}] : failures);
const change = (seconds: number) => ({ env, id, now: () => second(seconds), principal: secretKey });
const status = async (seconds: number): Promise<ErrorStatus | undefined> =>
  (await retrieveErrorGroup(sql, env, id, second(seconds)))?.status;
const ignore = (seconds: number, limits: Ignore['limits']) =>
  ignoreErrorGroup(sql, { ...change(seconds), limits });
const audit = async () => {
  await tally(sql, env);
  return sql`select at, act, user_id, credential_id, before from error_audit where env = ${env} order by id`;
};

const unset = {
  resolvedAt: null,
  resolvedInVersion: null,
  resolvedBy: null,
  ignoredAt: null,
  ignoredUntil: null,
  ignoredReason: null,
  ignoredByUserId: null,
  ignoredUntilOccurrenceRate: null,
  ignoredUntilTotalOccurrences: null,
};

describe('resolve', () => {
  test('records the version, the time and the user, and resolves again on a second request', async () => {
    const resolved = await resolveErrorGroup(sql, { ...change(1), version: '2', principal: userToken });
    expect(resolved).toMatchObject({
      ...unset,
      status: 'resolved',
      resolvedAt: second(1).toISOString(),
      resolvedInVersion: '2',
      resolvedBy: 'user_ann',
    });
    expect(await resolveErrorGroup(sql, change(2))).toMatchObject({
      ...unset,
      status: 'resolved',
      resolvedAt: second(2).toISOString(),
    });
  });

  test('clears an ignore, and an ignore clears a resolve', async () => {
    const ignored = await ignore(1, {
      duration: 60_000,
      occurrenceRate: 0.5,
      totalOccurrences: 3,
      reason: 'known',
    });
    expect(ignored).toMatchObject({
      ...unset,
      status: 'ignored',
      ignoredAt: second(1).toISOString(),
      ignoredUntil: second(61).toISOString(),
      ignoredReason: 'known',
      ignoredUntilOccurrenceRate: 0.5,
      ignoredUntilTotalOccurrences: 3,
    });
    expect(await resolveErrorGroup(sql, change(2))).toMatchObject({
      ...unset,
      status: 'resolved',
      resolvedAt: second(2).toISOString(),
    });
    expect(await ignore(3, {})).toMatchObject({
      ...unset,
      status: 'ignored',
      ignoredAt: second(3).toISOString(),
    });
    expect(await unresolveErrorGroup(sql, change(4))).toMatchObject({ ...unset, status: 'unresolved' });
  });

  test('finds no group for a malformed id, an unknown id or an id of another environment', async () => {
    const elsewhere = await newEnvironment(sql);
    for (const unknown of ['', 'error_', 'error_x', `${id}_1`, 'error_0000000000000000', `${id}\u0000`]) {
      expect(await resolveErrorGroup(sql, { ...change(1), id: unknown })).toBeUndefined();
      expect(await ignoreErrorGroup(sql, { ...change(1), id: unknown, limits: {} })).toBeUndefined();
      expect(await unresolveErrorGroup(sql, { ...change(1), id: unknown })).toBeUndefined();
      expect(await retrieveErrorGroup(sql, env, unknown, second(1))).toBeUndefined();
    }
    expect(await resolveErrorGroup(sql, { ...change(1), env: elsewhere })).toBeUndefined();
    expect(await status(1)).toBe('unresolved');
  });

  test('without a version: only a run that started after it reopens the group', async () => {
    await resolveErrorGroup(sql, change(10));
    await fail(20, { started: second(9) });
    expect(await status(20)).toBe('resolved');
    await fail(30, { started: second(11) });
    expect(await retrieveErrorGroup(sql, env, id, second(30))).toMatchObject({
      ...unset,
      status: 'unresolved',
      count: 3,
    });
  });

  test('with a version: that version or a later deployment reopens the group, regardless of their names', async () => {
    const [old = 0, fix = 0, next = 0] = await deploy(sql, env, '20261121.9', '20261121.10', '20260101.1');
    await resolveErrorGroup(sql, { ...change(10), version: '20261121.10' });
    await fail(20, { version: old, started: second(15) }, { version: null, started: second(15) });
    expect(await status(20)).toBe('resolved');
    await fail(30, { version: old }, { version: next });
    expect(await status(30)).toBe('unresolved');
    await resolveErrorGroup(sql, { ...change(40), version: '20261121.10' });
    await fail(50, { version: fix, started: second(5) });
    expect(await status(50)).toBe('unresolved');
  });

  test('with a version that is deployed later: nothing reopens the group until a run of it fails', async () => {
    const [old = 0] = await deploy(sql, env, '20261121.9');
    await resolveErrorGroup(sql, { ...change(10), version: '20261121.10' });
    await fail(20, { version: old, started: second(15) });
    expect(await status(20)).toBe('resolved');
    const [fix = 0] = await deploy(sql, env, '20261121.10');
    await fail(30, { version: old, started: second(25) });
    expect(await status(30)).toBe('resolved');
    await fail(40, { version: fix });
    expect(await status(40)).toBe('unresolved');
  });

  test.each(['1.2.3', '20261121.8', '20261121.99999999999'])(
    'with version %s, which is never deployed here: as without a version',
    async (version) => {
      await deploy(sql, env, '20261121.9');
      await resolveErrorGroup(sql, { ...change(10), version });
      await fail(20, { started: second(9) });
      expect(await status(20)).toBe('resolved');
      await fail(30, { started: second(11) });
      expect(await status(30)).toBe('unresolved');
    },
  );

  test('a failure concurrent with a resolve happens entirely before or after it', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const raced = { message: `race ${index}` };
        const racedId = groupOf(env, raced);
        await recordFailures(sql, env, second(0), [raced]);
        await Promise.all([
          resolveErrorGroup(sql, { ...change(10), id: racedId }),
          recordFailures(sql, env, second(11), [{ ...raced, started: second(10.5) }]),
        ]);
        const group = await retrieveErrorGroup(sql, env, racedId, second(12));
        const acts = await sql<
          { act: string }[]
        >`select act from error_audit where env = ${env} and group_id = ${racedId} order by id`;
        return { status: group?.status, count: group?.count, acts: acts.map((row) => row.act).join() };
      }),
    );
    for (const outcome of outcomes) {
      expect([
        { status: 'unresolved', count: 2, acts: 'resolved,regressed' },
        { status: 'resolved', count: 2, acts: 'resolved' },
      ]).toContainEqual(outcome);
    }
  });
});

describe('ignore', () => {
  test('without limits lasts forever', async () => {
    await ignore(1, {});
    await fail(2, ...Array.from({ length: 500 }, () => ({})));
    expect(await status(1_000_000)).toBe('ignored');
  });

  test('ends at its expiry for every reader, and is recorded as ended at the next failure', async () => {
    await ignore(1, { duration: 60_000 });
    await fail(60);
    expect(await status(60.999)).toBe('ignored');
    expect(await retrieveErrorGroup(sql, env, id, second(61))).toMatchObject({
      ...unset,
      status: 'unresolved',
    });
    await fail(61);
    expect((await audit()).map((row) => row.act)).toEqual(['ignored', 'ignoreEnded']);
  });

  test('that ended without an occurrence is recorded with its end time', async () => {
    await ignore(1, { duration: 60_000 });
    await endLapsedIgnores(sql, second(60));
    expect(await audit()).toHaveLength(1);
    await endLapsedIgnores(sql, second(500));
    expect((await audit()).at(-1)).toMatchObject({ act: 'ignoreEnded', at: second(61), user_id: null });
  });

  test('that ended before a change of the group is recorded first', async () => {
    await ignore(1, { duration: 60_000 });
    await resolveErrorGroup(sql, change(90));
    const entries = await audit();
    expect(entries.map((row) => row.act)).toEqual(['ignored', 'ignoreEnded', 'resolved']);
    expect(entries.slice(1)).toMatchObject([{ at: second(61) }, { before: { status: 'unresolved' } }]);
  });

  test('ends after the given number of further occurrences', async () => {
    await ignore(1, { totalOccurrences: 3 });
    await fail(2, {}, {});
    expect(await status(2)).toBe('ignored');
    await fail(3);
    expect(await status(3)).toBe('unresolved');
  });

  test('ends when the occurrences in any minute exceed its rate', async () => {
    await fail(1, {}, {}, {}, {}, {});
    await ignore(2, { occurrenceRate: 2 });
    await fail(30, {});
    await fail(50, {});
    await fail(90, {});
    expect(await status(90)).toBe('ignored');
    await fail(109, {});
    expect(await status(109)).toBe('unresolved');
  });

  test('with a rate below one per minute uses a window in which one occurrence is expected', async () => {
    await ignore(1, { occurrenceRate: 0.5 });
    await fail(10);
    await fail(200);
    expect(await status(200)).toBe('ignored');
    await fail(300);
    expect(await status(300)).toBe('unresolved');
  });

  test('with the smallest possible rate ends with the next occurrence', async () => {
    await ignore(1, { occurrenceRate: Number.MIN_VALUE });
    expect(await status(9)).toBe('ignored');
    await fail(10);
    expect(await status(10)).toBe('unresolved');
  });

  test('ends at the first of its limits', async () => {
    await ignore(1, { duration: 3_600_000, totalOccurrences: 100, occurrenceRate: 1 });
    await fail(2, {}, {});
    expect(await status(2)).toBe('unresolved');
  });
});

test('the audit shows who changed a group, when, and its previous state', async () => {
  await ignoreErrorGroup(sql, { ...change(1), principal: userToken, limits: { reason: 'known' } });
  await resolveErrorGroup(sql, change(2));
  await fail(3);
  await unresolveErrorGroup(sql, change(4));
  const entries = await audit();
  expect(entries.map(({ act, user_id, credential_id }) => ({ act, user_id, credential_id }))).toEqual([
    { act: 'ignored', user_id: 'user_ann', credential_id: 'token_test' },
    { act: 'resolved', user_id: null, credential_id: 'key_test' },
    { act: 'regressed', user_id: null, credential_id: null },
    { act: 'unresolved', user_id: null, credential_id: 'key_test' },
  ]);
  expect(entries[1]?.before).toMatchObject({
    status: 'ignored',
    ignoredReason: 'known',
    ignoredByUserId: 'user_ann',
  });
  expect(entries[2]).toMatchObject({ at: second(3), before: { status: 'resolved' } });
});
