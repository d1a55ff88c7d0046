import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listErrors } from '@millrace/contract';
import { testDatabase, type TestDatabase } from '../../../../../test/support/database.ts';
import { connect, type Sql } from '../../db/connect.ts';
import { groupOf, newEnvironment, recordFailures } from '../testing/failures.ts';
import { listErrorGroups } from './list.ts';
import { retrieveWithTrend, trendInterval } from './trend.ts';

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

const minuteMs = 60_000;
const dayMs = 86_400_000;

describe('a trend', () => {
  test('has a point for each interval of its period, including the one in progress', async () => {
    const env = await newEnvironment(sql);
    const fail = (at: string, times = 1) =>
      recordFailures(
        sql,
        env,
        new Date(at),
        Array.from({ length: times }, () => ({})),
      );
    await fail('2026-11-21T08:59:59.999Z');
    await fail('2026-11-21T10:57:00.000Z', 2);
    await fail('2026-11-21T10:58:59.999Z', 3);
    await fail('2026-11-21T11:00:01.000Z', 4);
    const now = new Date('2026-11-21T11:00:30Z');
    const group = await retrieveWithTrend(sql, env, groupOf(env), 4 * minuteMs, now);
    expect(group?.trend).toEqual({
      intervalMs: minuteMs,
      points: [
        { from: '2026-11-21T10:57:00.000Z', count: 2 },
        { from: '2026-11-21T10:58:00.000Z', count: 3 },
        { from: '2026-11-21T10:59:00.000Z', count: 0 },
        { from: '2026-11-21T11:00:00.000Z', count: 4 },
      ],
    });
  });

  test('is included with each group of a list on request, in list order', async () => {
    const env = await newEnvironment(sql);
    const fail = (at: string, message: string) => recordFailures(sql, env, new Date(at), [{ message }]);
    await fail('2026-11-21T10:57:30.000Z', 'the disk is full');
    await fail('2026-11-21T10:58:30.000Z', 'no such customer');
    await fail('2026-11-21T10:59:30.000Z', 'no such customer');
    const now = new Date('2026-11-21T11:00:30Z');
    const list = (query: Record<string, string>) =>
      listErrorGroups(sql, { env, query: listErrors.query.parse(query), now });
    const counts = (page: Awaited<ReturnType<typeof list>>) =>
      page.data.map(({ errorMessage, trend }) => [errorMessage, trend?.points.map(({ count }) => count)]);
    expect(counts(await list({ trend: '4m' }))).toEqual([
      ['no such customer', [0, 1, 1, 0]],
      ['the disk is full', [1, 0, 0, 0]],
    ]);
    expect((await list({})).data.every((group) => !('trend' in group))).toBe(true);
    expect((await list({ trend: '4m', 'filter[search]': 'nowhere' })).data).toEqual([]);
  });

  test('never has more than 60 points, for any period', () => {
    for (const period of [
      1_000,
      60 * minuteMs,
      61 * minuteMs,
      dayMs,
      7 * dayMs,
      90 * dayMs,
      100_000 * dayMs,
    ]) {
      const interval = trendInterval(period);
      expect(Math.ceil(period / interval)).toBeLessThanOrEqual(60);
      expect(interval % minuteMs).toBe(0);
    }
    expect(trendInterval(60 * minuteMs)).toBe(minuteMs);
    expect(trendInterval(dayMs)).toBe(60 * minuteMs);
  });
});
