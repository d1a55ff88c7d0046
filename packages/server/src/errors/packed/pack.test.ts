import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listErrors } from '@millrace/contract';
import { testDatabase, type TestDatabase } from '../../../../../test/support/database.ts';
import { connect, type Sql } from '../../db/connect.ts';
import { listErrorGroups } from '../list/list.ts';
import { mergeErrorGroups } from '../merge/merge.ts';
import { thinTallies } from '../counts/compact.ts';
import { groupOf, newEnvironment, recordFailures, secretKey } from '../testing/failures.ts';
import { packNewMoves } from './moves.ts';
import { packCounts } from './pack.ts';
import { rollUpPacks } from './roll-up.ts';

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
const packs = async (env: number) => [
  ...(await sql`select version, whole, at, size, counts from error_packs where env = ${env} order by 1, 2, 3`),
];
const countsBy = async (
  env: number,
  now: Date,
  range: Record<string, string>,
): Promise<Record<string, number>> => {
  const query = listErrors.query.parse({ sort: 'count', 'page[size]': '100', ...range });
  const { data } = await listErrorGroups(sql, { env, query, now, ages });
  return Object.fromEntries(data.map((group) => [group.errorMessage, group.count]));
};
const between = (from: number, to: number) => ({
  'filter[from]': String(time(from).getTime()),
  'filter[to]': String(time(to).getTime() - 1),
});

test('a quarter of an hour is packed two minutes after it is over, and each but once', async () => {
  const env = await newEnvironment(sql);
  await recordFailures(sql, env, time(0.1), [{ message: 'a' }]);
  await countsBy(env, time(1), {});
  expect(await packCounts(sql, new Date(time(0.25).getTime() + 119_999))).toBe(false);
  await until(() => packCounts(sql, new Date(time(0.25).getTime() + 120_000)));
  const packed = await packs(env);
  expect(packed).toMatchObject([{ whole: false, at: time(0.25), size: 1 }]);
  await until(() => packCounts(sql, time(5)));
  expect(await packs(env)).toEqual(packed);
});

test('a clock that was ahead packs too early, and what fails then is counted all the same', async () => {
  const env = await newEnvironment(sql);
  await recordFailures(sql, env, time(0), [{ message: 'a' }]);
  await recordFailures(sql, env, time(48), [{ message: 'a' }]);
  await countsBy(env, time(48), {});
  await until(() => packCounts(sql, time(72), 0));
  for (const hour of [1, 2, 3])
    await recordFailures(sql, env, time(hour), [{ message: 'a' }, { message: 'b' }]);
  expect(await countsBy(env, time(4), between(0, 2))).toEqual({ a: 2, b: 1 });
  // Back in time there is nothing to pack: what is over by this clock is packed, and no more.
  await until(() => packCounts(sql, time(4), 0));
  expect(await countsBy(env, time(4), between(1, 4))).toEqual({ a: 3, b: 3 });
  expect(await countsBy(env, time(4), between(0, 72))).toEqual({ a: 5, b: 3 });
});

test('old packs are put together by the hour and by the day, and what comes late after that is counted too', async () => {
  const env = await newEnvironment(sql);
  for (let hour = 0; hour < 60; hour += 0.5) await recordFailures(sql, env, time(hour), [{ message: 'a' }]);
  await countsBy(env, time(60), {});
  await until(() => packCounts(sql, time(61), 0));
  await until(() => rollUpPacks(sql, time(61), ages));
  await until(() => thinTallies(sql, time(61), ages));
  const ends = new Set((await packs(env)).map(({ at }) => (at as Date).getTime()));
  // a day, then hours, then quarters of an hour with something in them
  expect(ends.size).toBe(1 + (55 - 24) + (60 - 55) * 2);
  for (const [from, to, count] of [
    [0, 24, 48],
    [24, 30, 12],
    [0, 60, 120],
    [55, 55.25, 1],
  ] as const)
    expect(await countsBy(env, time(61), between(from, to))).toEqual({ a: count });

  await recordFailures(sql, env, time(5.1), [{ message: 'late' }]);
  const check = async () => {
    expect(await countsBy(env, time(61), between(0, 24))).toEqual({ a: 48, late: 1 });
    expect(await countsBy(env, time(61), between(24, 60))).toEqual({ a: 72 });
  };
  await check();
  expect(await packCounts(sql, time(61), 0)).toBe(true);
  await check();
  await until(() => packCounts(sql, time(61), 0));
  await recordFailures(sql, env, time(7.1), [{ message: 'a' }, { message: 'late' }]);
  await until(() => packCounts(sql, time(61), 0));
  await until(() => rollUpPacks(sql, time(61), ages));
  expect(await countsBy(env, time(61), between(0, 24))).toEqual({ a: 49, late: 2 });
  expect(await countsBy(env, time(61), between(24, 60))).toEqual({ a: 72 });
}, 60_000);

test('whoever packs, rolls up, thins, merges, records and lists at once, and is cut off in between, counts nothing twice and loses nothing', async () => {
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
        kind: fc.constantFrom('pack' as const, 'roll' as const, 'thin' as const),
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
        acts.map(async (one) => {
          if (one.kind === 'fail') {
            failed += 1;
            const message = named(one.message);
            const failure = one.isUpgraded ? { message: `${message}'`, older: [message] } : { message };
            await recordFailures(sql, env, time(one.hour), [failure]);
          } else if (one.kind === 'pack') {
            await packNewMoves(upkeep, 0)
              .then(() => packCounts(upkeep, time(one.hour), 0))
              .catch(isCutOff);
          } else if (one.kind === 'roll') await rollUpPacks(upkeep, time(one.hour), ages).catch(isCutOff);
          else if (one.kind === 'thin') await thinTallies(upkeep, time(one.hour), ages).catch(isCutOff);
          else if (one.kind === 'list') await countsBy(env, time(80), {});
          else if (one.kind === 'merge') {
            const change = {
              env,
              id: groupOf(env, { message: named(one.into) }),
              now: () => time(80),
              principal: secretKey,
            };
            await mergeErrorGroups(sql, { ...change, errors: [groupOf(env, { message: named(one.other) })] });
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
        await packNewMoves(sql, 0);
        await until(() => packCounts(sql, time(80), 0));
        await until(() => rollUpPacks(sql, time(80), ages));
        await until(() => thinTallies(sql, time(80), ages));
      }
    }),
    { numRuns: 20 },
  );
}, 120_000);
