import { expect, onTestFinished, test } from 'vitest';
import { testDatabase } from '../../../../../test/support/database.ts';
import { connect } from '../../db/connect.ts';
import { groupOf, newEnvironment, recordFailures, secretKey, userToken } from '../testing/failures.ts';
import { listHistory } from './history.ts';
import { ignoreErrorGroup } from './ignore.ts';
import { resolveErrorGroup } from './resolve.ts';

test('the history of a group shows who resolved it, and when it recurred', async () => {
  const database = await testDatabase();
  const sql = connect(database.connection, { name: 'test' });
  onTestFinished(async () => {
    await sql.end();
    await database.drop();
  });
  const env = await newEnvironment(sql);
  const id = groupOf(env);
  const at = (seconds: number) => new Date(Date.parse('2026-11-21T10:00:00.000Z') + seconds * 1_000);
  const list = (query: { 'page[size]'?: number; 'page[after]'?: string } = {}) =>
    listHistory(sql, env, id, { 'page[size]': 25, ...query });
  expect(await list()).toBeUndefined();
  await recordFailures(sql, env, at(0), [{}]);
  expect(await list()).toEqual({ data: [], pagination: {} });
  await resolveErrorGroup(sql, { env, id, now: () => at(1), principal: userToken, version: undefined });
  await recordFailures(sql, env, at(2), [{ started: at(2) }]);
  const limits = { reason: 'known' };
  await ignoreErrorGroup(sql, { env, id, now: () => at(3), principal: secretKey, limits });

  const all = await list();
  expect(all?.data).toMatchObject([
    { act: 'ignored', at: at(3).toISOString(), before: { status: 'unresolved' } },
    {
      act: 'regressed',
      before: { status: 'resolved', resolvedAt: at(1).toISOString(), resolvedBy: 'user_ann' },
    },
    {
      act: 'resolved',
      at: at(1).toISOString(),
      userId: expect.any(String),
      before: { status: 'unresolved' },
    },
  ]);
  expect(all?.data[1]).not.toHaveProperty('userId');
  const first = await list({ 'page[size]': 2 });
  const second = await list({ 'page[size]': 2, 'page[after]': first?.pagination.next as string });
  expect([...(first?.data ?? []), ...(second?.data ?? [])]).toEqual(all?.data);
  expect(second?.pagination).toEqual({});
  expect(await listHistory(sql, env, 'nothing', { 'page[size]': 1 })).toBeUndefined();
});
