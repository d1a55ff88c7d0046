import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listErrors } from '@millrace/contract';
import { testDatabase, type TestDatabase } from '../../../../../test/support/database.ts';
import { connect, type Sql } from '../../db/connect.ts';
import { listErrorGroups } from '../list/list.ts';
import { mergeErrorGroups } from '../merge/merge.ts';
import { groupOf, newEnvironment, recordFailures, secretKey } from '../testing/failures.ts';
import { compactTallies, deleteOldHours } from './compact.ts';
import { numRuns } from '../../../../../test/support/long.ts';

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

const hourMs = 3_600_000;
const start = Date.parse('2026-11-01T00:00:00.000Z');
const time = (hours: number) => new Date(start + hours * hourMs);
const ages = { hours: 6 * hourMs, days: 30 * hourMs };

const until = async (round: () => Promise<boolean>): Promise<void> => {
  while (await round());
};
const countsBy = async (
  env: number,
  now: Date,
  range: Record<string, string>,
  ofAges = ages,
): Promise<Record<string, number>> => {
  const query = listErrors.query.parse({ sort: 'count', 'page[size]': '100', ...range });
  const { data } = await listErrorGroups(sql, { env, query, now, ages: ofAges });
  return Object.fromEntries(data.map((group) => [group.errorMessage, group.count]));
};
const between = (from: number, to: number) => ({
  'filter[from]': String(time(from).getTime()),
  'filter[to]': String(time(to).getTime() - 1),
});

/** The rows of a table of roll-ups as seen in psql, by start time. */
const rollUps = async (env: number, table: 'error_hours' | 'error_days' | 'error_weeks') =>
  (
    await sql.unsafe<{ at: Date; n: number }[]>(
      `select at, sum(n)::float8 as n from ${table} where env = ${env} group by at order by at`,
    )
  ).map(({ at, n }) => [at.toISOString(), n]);

test('failures are counted by hour, day and week (from Monday), even when they arrive late', async () => {
  const env = await newEnvironment(sql);
  for (const hour of [0.1, 0.9, 1, 23.99, 24, 47])
    await recordFailures(sql, env, time(hour), [{ message: 'a' }]);
  await countsBy(env, time(48), {});
  await recordFailures(sql, env, time(0.5), [{ message: 'b' }, { message: 'a' }]);
  await countsBy(env, time(48), {});
  expect(await rollUps(env, 'error_hours')).toEqual([
    ['2026-11-01T00:00:00.000Z', 4],
    ['2026-11-01T01:00:00.000Z', 1],
    ['2026-11-01T23:00:00.000Z', 1],
    ['2026-11-02T00:00:00.000Z', 1],
    ['2026-11-02T23:00:00.000Z', 1],
  ]);
  expect(await rollUps(env, 'error_days')).toEqual([
    ['2026-11-01T00:00:00.000Z', 6],
    ['2026-11-02T00:00:00.000Z', 2],
  ]);
  expect(await rollUps(env, 'error_weeks')).toEqual([
    ['2026-10-26T00:00:00.000Z', 6],
    ['2026-11-02T00:00:00.000Z', 2],
  ]);
});

test('failures that arrive late, or ahead of the clock, are counted', async () => {
  const env = await newEnvironment(sql);
  await recordFailures(sql, env, time(0), [{ message: 'a' }]);
  await recordFailures(sql, env, time(48), [{ message: 'a' }]);
  await countsBy(env, time(48), {});
  for (const hour of [1, 2, 3])
    await recordFailures(sql, env, time(hour), [{ message: 'a' }, { message: 'b' }]);
  expect(await countsBy(env, time(4), between(0, 2))).toEqual({ a: 2, b: 1 });
  expect(await countsBy(env, time(4), between(1, 4))).toEqual({ a: 3, b: 3 });
  expect(await countsBy(env, time(4), between(0, 72))).toEqual({ a: 5, b: 3 });
});

test('old tallies are compacted by the hour and by the day, and later arrivals are still counted', async () => {
  const env = await newEnvironment(sql);
  const shortAges = { hours: 6 * hourMs, days: 24 * hourMs };
  for (let hour = 0; hour < 60; hour += 0.5) await recordFailures(sql, env, time(hour), [{ message: 'a' }]);
  await countsBy(env, time(61), {});
  const prune = async () => {
    await until(() => compactTallies(sql, time(61), shortAges));
    await until(() => deleteOldHours(sql, time(61), shortAges));
  };
  await prune();
  const tallies = await sql`select at from error_tallies where env = ${env}`;
  // a day, then hours, then the remaining tallies to the millisecond
  expect(tallies).toHaveLength(1 + (54 - 24) + (60 - 54) * 2);
  expect(await rollUps(env, 'error_hours')).toHaveLength(60 - 24);
  for (const [from, to, count] of [
    [0, 24, 48],
    [24, 30, 12],
    [0, 60, 120],
    [55, 55.25, 1],
  ] as const)
    expect(await countsBy(env, time(61), between(from, to), shortAges)).toEqual({ a: count });

  await recordFailures(sql, env, time(5.1), [{ message: 'late' }]);
  const check = async () => {
    expect(await countsBy(env, time(61), between(0, 24), shortAges)).toEqual({ a: 48, late: 1 });
    expect(await countsBy(env, time(61), between(24, 60), shortAges)).toEqual({ a: 72 });
  };
  await check();
  await prune();
  await check();
  await recordFailures(sql, env, time(7.1), [{ message: 'a' }, { message: 'late' }]);
  await prune();
  expect(await countsBy(env, time(61), between(0, 24), shortAges)).toEqual({ a: 49, late: 2 });
  expect(await countsBy(env, time(61), between(24, 60), shortAges)).toEqual({ a: 72 });
}, 60_000);

test('every range between two moments of twelve weeks counts the failures recorded in it, before and after a merge', async () => {
  const env = await newEnvironment(sql);
  const failures = Array.from({ length: 240 }, (_, index) => ({
    hour: index * 8.3 + 0.1,
    message: ['a', 'b', 'c', "a'"][(index % 7) % 4] as string,
  }));
  for (const { hour, message } of failures) {
    await recordFailures(sql, env, time(hour), [{ message, older: message === "a'" ? ['a'] : [] }]);
  }
  const now = 12 * 7 * 24;
  const ends = [0, 1, 24, 25.5, 167, 168, 181.3, 400, 672, 1_000.7, 1_344, 1_991, now];
  const check = async (groups: Readonly<Record<string, string>>): Promise<void> => {
    for (const from of ends) {
      for (const to of ends.filter((end) => end > from)) {
        const expected: Record<string, number> = {};
        for (const { hour, message } of failures) {
          const group = groups[message] ?? message;
          if (hour >= from && hour < to) expected[group] = (expected[group] ?? 0) + 1;
        }
        const counted = await countsBy(env, time(now), between(from, to), {
          hours: now * hourMs,
          days: now * hourMs,
        });
        expect(counted, `${from} to ${to}`).toEqual(expected);
      }
    }
  };
  await check({ "a'": 'a' });
  await mergeErrorGroups(sql, {
    env,
    id: groupOf(env, { message: 'a' }),
    errors: [groupOf(env, { message: 'b' })],
    now: () => time(now),
    principal: secretKey,
  });
  await check({ "a'": 'a', b: 'a' });
}, 60_000);

test('pages ordered by the counts of a range traverse all groups in order, and back', async () => {
  const env = await newEnvironment(sql);
  const times = [3, 1, 4, 1, 5, 2, 2, 5, 3, 5];
  for (const [index, n] of times.entries())
    await recordFailures(
      sql,
      env,
      time(index),
      Array.from({ length: n }, () => ({ message: `m${index}` })),
    );
  const page = async (size: number, more: Record<string, string>) => {
    const query = listErrors.query.parse({
      sort: 'count',
      'page[size]': String(size),
      ...between(0, 48),
      ...more,
    });
    return (await listErrorGroups(sql, { env, query, now: time(50), ages })).data;
  };
  const expected = times
    .map((n, index) => ({ n, message: `m${index}` }))
    .toSorted((a, b) => b.n - a.n)
    .map(({ message }) => message);
  for (const size of [1, 2, 3, 7]) {
    const forward: string[] = [];
    for (let rows = await page(size, {}); rows.length > 0;) {
      forward.push(...rows.map((row) => row.errorMessage));
      rows = await page(size, { 'page[after]': rows.at(-1)?.id ?? '' });
    }
    expect(forward).toEqual(expected);
    const last = (await page(100, {})).at(-1);
    const back: string[] = [last?.errorMessage ?? ''];
    for (let rows = await page(size, { 'page[before]': last?.id ?? '' }); rows.length > 0;) {
      back.unshift(...rows.map((row) => row.errorMessage));
      rows = await page(size, { 'page[before]': rows[0]?.id ?? '' });
    }
    expect(back).toEqual(expected);
  }
});

test('concurrent and interrupted compaction, deletion, merging, recording and listing neither count twice nor lose anything', async () => {
  const messages = ['a', 'b', 'c'];
  const act = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('fail' as const),
        hour: fc.nat(70),
        message: fc.nat(2),
        isUpgraded: fc.boolean(),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constantFrom('delete' as const, 'compact' as const),
        hour: fc.nat(80),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('merge' as const), into: fc.nat(2), other: fc.nat(2) }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('list' as const) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('cut' as const) }) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 20, maxLength: 40 }), async (acts) => {
      const env = await newEnvironment(sql);
      const upkeep = connect(database.connection, { name: 'cut off', max: 3 });
      const named = (index: number) => messages[index] as string;
      await recordFailures(
        sql,
        env,
        time(0),
        messages.map((message) => ({ message })),
      );
      await countsBy(env, time(80), {});
      let failed = messages.length;
      const isCutOff = (error: unknown) => expect(String(error)).toMatch(/canceling statement/);
      await Promise.all(
        acts.map(async (perform) => {
          if (perform.kind === 'fail') {
            failed += 1;
            const message = named(perform.message);
            const failure = perform.isUpgraded ? { message: `${message}'`, older: [message] } : { message };
            await recordFailures(sql, env, time(perform.hour), [failure]);
          } else if (perform.kind === 'delete')
            await deleteOldHours(upkeep, time(perform.hour), ages).catch(isCutOff);
          else if (perform.kind === 'compact')
            await compactTallies(upkeep, time(perform.hour), ages).catch(isCutOff);
          else if (perform.kind === 'list') await countsBy(env, time(80), {});
          else if (perform.kind === 'merge') {
            const change = {
              env,
              id: groupOf(env, { message: named(perform.into) }),
              now: () => time(80),
              principal: secretKey,
            };
            await mergeErrorGroups(sql, {
              ...change,
              errors: [groupOf(env, { message: named(perform.other) })],
            });
          } else {
            await sql`select pg_cancel_backend(pid) from pg_stat_activity where application_name = 'cut off'`;
          }
        }),
      );
      await upkeep.end();
      const total = async (range: Record<string, string>) =>
        Object.values(await countsBy(env, time(80), range)).reduce((sum, count) => sum + count, 0);
      for (let round = 0; round < 2; round++) {
        expect(await total({})).toBe(failed);
        expect(await total(between(0, 80))).toBe(failed);
        expect(
          (await total(between(0, 24))) + (await total(between(24, 60))) + (await total(between(60, 80))),
        ).toBe(failed);
        await until(() => deleteOldHours(sql, time(80), ages));
        await until(() => compactTallies(sql, time(80), ages));
      }
    }),
    { numRuns: numRuns(20) },
  );
}, 120_000);
