import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { lockWaiters } from '../../../../test/support/locks.ts';
import { listErrors } from '@millrace/contract';
import { testDatabase, type TestDatabase } from '../../../../test/support/database.ts';
import { connect, type Queryable, type Sql } from '../db/connect.ts';
import { ignoreErrorGroup } from './life/ignore.ts';
import { endLapsedIgnores } from './life/lapse.ts';
import { listErrorGroups } from './list/list.ts';
import { listFingerprints } from './merge/fingerprints.ts';
import { mergeErrorGroups } from './merge/merge.ts';
import { splitErrorGroup } from './merge/split.ts';
import { resolveErrorGroup } from './life/resolve.ts';
import { retrieveErrorGroup } from './list/retrieve.ts';
import { tally } from './record/tally.ts';
import { retrieveWithTrend } from './list/trend.ts';
import { groupOf, newEnvironment, recordFailures, secretKey, type Failure } from './testing/failures.ts';
import { numRuns } from '../../../../test/support/long.ts';

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
const fail = (seconds: number, ...failures: Failure[]) =>
  recordFailures(sql, env, second(seconds), failures.length === 0 ? [{}] : failures);
const id = (message = 'boom') => groupOf(env, { message });
const change = (seconds: number, message?: string) => ({
  env,
  id: id(message),
  now: () => second(seconds),
  principal: secretKey,
});
const merge = (into: string, other: string) =>
  mergeErrorGroups(sql, { ...change(100, into), errors: [id(other)] });

async function waiting(count: number): Promise<void> {
  const waiters = () => lockWaiters(sql);
  await expect.poll(waiters, { timeout: 20_000 }).toHaveLength(count);
}

/** Starts an action that blocks on a lock, lets another action go first, and then continues. */
async function blocked<T>(
  lock: (tx: Queryable) => PromiseLike<unknown>,
  act: () => Promise<T>,
  meanwhile: (tx: Queryable) => Promise<unknown>,
): Promise<T> {
  const { coming } = await sql.begin(async (tx) => {
    await lock(tx);
    const begun = act();
    begun.catch(() => {});
    await waiting(1);
    await meanwhile(tx);
    return { coming: begun };
  });
  return coming;
}

/** An operation that would begin a transaction becomes part of this one. */
const within = (tx: Queryable): Sql =>
  Object.assign((...query: Parameters<Queryable>) => tx(...query), tx, {
    begin: <R>(act: (transaction: Queryable) => Promise<R>) => act(tx),
  }) as unknown as Sql;

test('an expired ignore ends once, even if the group changes while the end is recorded', async () => {
  await fail(0);
  await ignoreErrorGroup(sql, { ...change(1), limits: { duration: 60_000 } });
  let resolving: Promise<unknown> | undefined;
  await blocked(
    (tx) => tx`lock table error_audit in exclusive mode`,
    () => endLapsedIgnores(sql, second(90)),
    async () => {
      resolving = resolveErrorGroup(sql, change(91));
      await waiting(2);
    },
  );
  await resolving;
  const acts =
    await sql`select act, before ->> 'status' as before from error_audit where env = ${env} order by id`;
  expect([...acts]).toEqual([
    { act: 'ignored', before: 'unresolved' },
    { act: 'ignoreEnded', before: 'ignored' },
    { act: 'resolved', before: 'unresolved' },
  ]);
});

test('a resolve that waits for the lock follows all failures counted before it', async () => {
  await fail(0);
  await tally(sql, env);
  let now = 10;
  const resolved = await blocked(
    (tx) => tx`select lock_errors(${env})`,
    () => resolveErrorGroup(sql, { ...change(0), now: () => second(now) }),
    async () => {
      // A run that starts and fails in the meantime.
      await sql`
        insert into error_arrivals (env, fingerprint_id, version, at, started, n)
        select env, id, 0, ${second(15)}, ${second(12)}, 1 from error_fingerprints where env = ${env}`;
      now = 20;
    },
  );
  expect(resolved).toMatchObject({
    count: 2,
    lastSeen: second(15).toISOString(),
    status: 'resolved',
    resolvedAt: second(20).toISOString(),
  });
});

test('the rate of an ignore is exceeded regardless of the order of arrival', async () => {
  await fail(0);
  await ignoreErrorGroup(sql, { ...change(1), limits: { occurrenceRate: 2 } });
  await fail(30);
  await fail(50);
  expect(await retrieveErrorGroup(sql, env, id(), second(51))).toMatchObject({ status: 'ignored' });
  // A failure from another process, whose commit took longer.
  await fail(20);
  expect(await retrieveErrorGroup(sql, env, id(), second(51))).toMatchObject({ status: 'unresolved' });
});

test('the state of a group depends neither on the order in which failures arrive nor on when they are counted', async () => {
  const failures = fc.array(fc.record({ at: fc.nat(300), started: fc.nat(300), isCounted: fc.boolean() }), {
    minLength: 1,
    maxLength: 8,
  });
  const limits = fc.oneof(
    fc.record({ occurrenceRate: fc.constantFrom(0.3, 0.5, 1, 2, 3) }),
    fc.record({ totalOccurrences: fc.integer({ min: 1, max: 8 }) }),
    fc.record({ duration: fc.integer({ min: 1, max: 300_000 }) }),
    fc.constant(undefined),
  );
  const outcome = async (
    ignoreLimits: { totalOccurrences?: number; occurrenceRate?: number; duration?: number } | undefined,
    arriving: readonly { at: number; started: number; isCounted: boolean }[],
  ) => {
    env = await newEnvironment(sql);
    await fail(0);
    await (ignoreLimits
      ? ignoreErrorGroup(sql, { ...change(0), limits: ignoreLimits })
      : resolveErrorGroup(sql, change(150)));
    for (const { at, started, isCounted } of arriving) {
      await fail(at, { started: second(Math.min(at, started)) });
      if (isCounted) await tally(sql, env);
    }
    return (await retrieveErrorGroup(sql, env, id(), second(1)))?.status;
  };
  await fc.assert(
    fc.asyncProperty(limits, failures, async (ignoreLimits, arriving) => {
      const inOrder = arriving
        .map((failure) => ({ ...failure, isCounted: true }))
        .toSorted((a, b) => a.at - b.at);
      expect(await outcome(ignoreLimits, arriving)).toBe(await outcome(ignoreLimits, inOrder));
    }),
    { numRuns: numRuns(60) },
  );
}, 120_000);

describe('a merge during a read', () => {
  test('omits nothing from a page after the cursor', async () => {
    for (const [index, message] of ['a', 'b', 'c', 'd'].entries())
      await fail(1, ...Array.from({ length: 9 - index }, () => ({ message })));
    const list = (more: Record<string, string>) => {
      const query = listErrors.query.parse({
        sort: 'count',
        'filter[period]': '1d',
        'page[size]': '2',
        ...more,
      });
      return listErrorGroups(sql, { env, query, now: second(200) });
    };
    const first = await list({});
    expect(first.data.map((group) => group.errorMessage)).toEqual(['a', 'b']);
    const { data } = await blocked(
      (tx) => tx`lock table error_days in access exclusive mode`,
      () => list({ 'page[after]': id('b') }),
      () => merge('a', 'b'),
    );
    expect(data.map((group) => group.errorMessage)).toEqual(['c', 'd']);
  });

  test('counts every failure once, in a list of any state', async () => {
    for (const message of ['a', 'b']) {
      await fail(1, { message });
      await resolveErrorGroup(sql, change(2, message));
    }
    const query = listErrors.query.parse({
      sort: 'count',
      'filter[period]': '1d',
      'filter[status]': 'resolved',
    });
    const { data } = await blocked(
      (tx) => tx`lock table error_groups in access exclusive mode`,
      () => listErrorGroups(sql, { env, query, now: second(200) }),
      (tx) => mergeErrorGroups(within(tx), { ...change(100, 'a'), errors: [id('b')] }),
    );
    expect(data.reduce((sum, group) => sum + group.count, 0)).toBe(2);
  });

  test('shows a group and its trend in the same state', async () => {
    for (const message of ['a', 'b']) await fail(1, { message });
    await tally(sql, env);
    const group = await blocked(
      (tx) => tx`lock table error_tallies in access exclusive mode`,
      () => retrieveWithTrend(sql, env, id('b'), 3_600_000, second(200)),
      () => merge('a', 'b'),
    );
    expect(group).toMatchObject({ id: id('b'), count: 1 });
    expect(group?.trend.points.reduce((sum, point) => sum + point.count, 0)).toBe(1);
  });

  test('resolves to the fingerprints of the remaining group', async () => {
    for (const message of ['a', 'b']) await fail(1, { message });
    await tally(sql, env);
    const fingerprints = await blocked(
      (tx) => tx`lock table error_samples in access exclusive mode`,
      () => listFingerprints(sql, env, id('b')),
      (tx) => mergeErrorGroups(within(tx), { ...change(100, 'a'), errors: [id('b')] }),
    );
    expect(fingerprints?.map((item) => item.fingerprint)).toContain('b');
  });
});

test('an error under newer rules follows the group of its older fingerprint while that is being merged', async () => {
  for (const message of ['a', 'b']) await fail(1, { message });
  await tally(sql, env);
  await blocked(
    (tx) => tx`select lock_errors(${env})`,
    () => fail(2, { message: "b'", older: ['b'] }),
    (tx) => mergeErrorGroups(within(tx), { ...change(100, 'a'), errors: [id('b')] }),
  );
  expect(await retrieveErrorGroup(sql, env, id('a'), second(200))).toMatchObject({ count: 3 });
  expect((await listFingerprints(sql, env, id('a')))?.map((item) => item.fingerprint)).toEqual([
    'a',
    'b',
    "b'",
  ]);
});

test('the only fingerprint that ever occurred stays in its group', async () => {
  // Recorded for a run that was then canceled, by a server with older rules.
  const failure = { message: 'old' };
  await sql.begin(async (tx) => {
    await recordFailures(tx, env, second(1), [failure]);
    await tx`delete from error_arrivals where env = ${env}`;
  });
  await fail(2, { message: 'new', older: ['old'] });
  const splitting = splitErrorGroup(sql, { ...change(3, 'old'), fingerprints: ['new'] });
  await expect(splitting).rejects.toMatchObject({ status: 422 });
  expect(await retrieveErrorGroup(sql, env, id('old'), second(4))).toMatchObject({ count: 1 });
});
