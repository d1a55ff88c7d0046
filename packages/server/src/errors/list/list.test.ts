import { afterAll, beforeAll, expect, test } from 'vitest';
import { listErrors } from '@millrace/contract';
import { testDatabase, type TestDatabase } from '../../../../../test/support/database.ts';
import { connect, type Sql } from '../../db/connect.ts';
import { Problem } from '../../problem.ts';
import { ignoreErrorGroup } from '../life/ignore.ts';
import { listErrorGroups } from './list.ts';
import { resolveErrorGroup } from '../life/resolve.ts';
import {
  deploy,
  groupOf,
  newEnvironment,
  recordFailures,
  secretKey,
  type Failure,
} from '../testing/failures.ts';

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

const start = Date.parse('2026-11-21T10:00:00.000Z');
const second = (seconds: number) => new Date(start + seconds * 1_000);
const now = second(3_600);

/** Sends the request like a client: the parameters pass through the contract. */
const list = (env: number, parameters: Record<string, string> = {}, at = now) =>
  listErrorGroups(sql, { env, query: listErrors.query.parse(parameters), now: at });

const messages = async (env: number, parameters: Record<string, string> = {}, at = now) =>
  (await list(env, parameters, at)).data.map((item) => item.errorMessage);

async function environmentWith(...failures: (Failure & { at: number })[]): Promise<number> {
  const env = await newEnvironment(sql);
  for (const failure of failures) await recordFailures(sql, env, second(failure.at), [failure]);
  return env;
}

test('an item has the fields of the wire format, dates with milliseconds, and null for unset fields', async () => {
  const env = await environmentWith({ at: 0.001 }, { at: 1.5 });
  expect(await list(env)).toEqual({
    data: [
      {
        id: groupOf(env),
        fingerprint: 'boom',
        taskIdentifier: 'task',
        errorType: 'Error',
        errorMessage: 'boom',
        sampleMessage: 'boom',
        status: 'unresolved',
        count: 2,
        firstSeen: '2026-11-21T10:00:00.001Z',
        lastSeen: '2026-11-21T10:00:01.500Z',
        resolvedAt: null,
        ignoredUntil: null,
        ownership: { owner: null, source: null, userId: null, ticketUrl: null },
      },
    ],
    pagination: {},
  });
});

test('the most recently seen group is first, and groups seen at the same moment are ordered by id', async () => {
  const env = await environmentWith(
    { at: 5, message: 'b' },
    { at: 7, message: 'c' },
    { at: 1, message: 'a' },
    { at: 7, message: 'd' },
  );
  const sameMoment = ['c', 'd'].toSorted((first, other) =>
    groupOf(env, { message: first }) < groupOf(env, { message: other }) ? -1 : 1,
  );
  expect(await messages(env)).toEqual([...sameMoment, 'b', 'a']);
});

test('paging covers the whole list in both directions, each group once, with cursors that are strings or absent', async () => {
  const env = await newEnvironment(sql);
  // Many have the same time, so the id has to distinguish them.
  const failures = Array.from({ length: 23 }, (_, index) => ({ message: `message ${index}` }));
  for (let index = 0; index < 23; index += 6) {
    await recordFailures(sql, env, second(index), failures.slice(index, index + 6));
  }
  const all = (await list(env, { 'page[size]': '100' })).data.map((item) => item.id);
  expect(all).toHaveLength(23);

  const forward: string[][] = [];
  let page = await list(env, { 'page[size]': '5' });
  expect(page.pagination).not.toHaveProperty('previous');
  forward.push(page.data.map((item) => item.id));
  while (page.pagination.next !== undefined) {
    page = await list(env, { 'page[size]': '5', 'page[after]': page.pagination.next });
    forward.push(page.data.map((item) => item.id));
  }
  expect(page.pagination).not.toHaveProperty('next');
  expect(forward.flat()).toEqual(all);
  expect(forward.map((ids) => ids.length)).toEqual([5, 5, 5, 5, 3]);

  const backward: string[][] = [page.data.map((item) => item.id)];
  while (page.pagination.previous !== undefined) {
    page = await list(env, { 'page[size]': '5', 'page[before]': page.pagination.previous });
    backward.unshift(page.data.map((item) => item.id));
  }
  expect(backward).toEqual(forward);
});

test('before takes precedence over after', async () => {
  const env = await environmentWith(
    { at: 1, message: 'a' },
    { at: 2, message: 'b' },
    { at: 3, message: 'c' },
  );
  const middle = groupOf(env, { message: 'b' });
  expect(await messages(env, { 'page[after]': middle })).toEqual(['a']);
  expect(await messages(env, { 'page[before]': middle })).toEqual(['c']);
  expect(await messages(env, { 'page[before]': middle, 'page[after]': 'nonsense' })).toEqual(['c']);
});

test('a cursor is any group of the environment, even one that is filtered out; anything else is rejected by name', async () => {
  const env = await environmentWith(
    { at: 1, message: 'a', task: 'one' },
    { at: 2, message: 'b', task: 'two' },
    { at: 3, message: 'c', task: 'one' },
  );
  const hidden = groupOf(env, { message: 'b', task: 'two' });
  expect(await messages(env, { 'filter[taskIdentifier]': 'one', 'page[after]': hidden })).toEqual(['a']);
  const elsewhere = await environmentWith({ at: 1 });
  for (const [parameter, id] of [
    ['page[after]', groupOf(elsewhere)],
    ['page[after]', 'error_x'],
    ['page[before]', 'eyJhIjoxfQ=='],
    ['page[after]', '\u0000'],
  ] as const) {
    const refusal = await list(env, { [parameter]: id }).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(Problem);
    expect(refusal).toMatchObject({
      status: 400,
      message: 'Query Error',
      extra: { details: [{ code: 'custom', path: [parameter] }] },
    });
  }
});

test('filters on tasks, versions and statuses match any of their values, and all filters must match', async () => {
  const env = await newEnvironment(sql);
  const [first = 0, second_ = 0] = await deploy(sql, env, '1', '2');
  await recordFailures(sql, env, second(1), [{ message: 'a', task: 'one', version: first }]);
  await recordFailures(sql, env, second(2), [{ message: 'b', task: 'two', version: second_ }]);
  await recordFailures(sql, env, second(3), [
    { message: 'c', task: 'three', version: first },
    { message: 'c', task: 'three', version: second_ },
    { message: 'c', task: 'three', version: second_ },
  ]);
  const change = { env, now: () => second(10), principal: secretKey };
  await resolveErrorGroup(sql, { ...change, id: groupOf(env, { message: 'a', task: 'one' }) });
  await ignoreErrorGroup(sql, {
    ...change,
    id: groupOf(env, { message: 'b', task: 'two' }),
    limits: { duration: 60_000 },
  });

  expect(await messages(env, { 'filter[taskIdentifier]': ' one , three,,' })).toEqual(['c', 'a']);
  expect(await messages(env, { 'filter[taskIdentifier]': 'unknown' })).toEqual([]);
  expect(await messages(env, { 'filter[version]': '1' })).toEqual(['c', 'a']);
  expect((await list(env, { 'filter[version]': '2' })).data.map((item) => item.count)).toEqual([2, 1]);
  expect((await list(env, { 'filter[version]': '1,2' })).data[0]).toMatchObject({ count: 3 });
  expect(await messages(env, { 'filter[version]': '3' })).toEqual([]);
  const during = second(20);
  expect(await messages(env, { 'filter[status]': 'resolved' }, during)).toEqual(['a']);
  expect(await messages(env, { 'filter[status]': 'ignored' }, during)).toEqual(['b']);
  expect(await messages(env, { 'filter[status]': 'ignored,resolved' }, during)).toEqual(['b', 'a']);
  expect(await messages(env, { 'filter[status]': 'unresolved' }, during)).toEqual(['c']);
  // The ignore ends without any other event.
  const after = second(70);
  expect(await messages(env, { 'filter[status]': 'ignored' }, after)).toEqual([]);
  expect(await messages(env, { 'filter[status]': 'unresolved' }, after)).toEqual(['c', 'b']);
  expect((await list(env, {}, after)).data[1]).toMatchObject({ status: 'unresolved', ignoredUntil: null });
  expect(await messages(env, { 'filter[status]': 'unresolved', 'filter[version]': '1' }, during)).toEqual([
    'c',
  ]);
  expect(await messages(env, { 'filter[taskIdentifier]': 'one,two', 'filter[version]': '2' })).toEqual(['b']);
});

test('a search matches part of the type or the message in any case, without wildcards', async () => {
  const env = await environmentWith(
    { at: 1, message: 'Connection to <host> refused', type: 'PaymentError' },
    { at: 2, message: '100% of the quota_used', type: 'Error' },
    { at: 3, message: String.raw`path C:\temp`, type: 'Error' },
  );
  expect(await messages(env, { 'filter[search]': 'cOnNeCtIoN TO' })).toEqual([
    'Connection to <host> refused',
  ]);
  expect(await messages(env, { 'filter[search]': 'paymenterr' })).toEqual(['Connection to <host> refused']);
  expect(await messages(env, { 'filter[search]': '0% of' })).toHaveLength(1);
  expect(await messages(env, { 'filter[search]': '1%quota' })).toEqual([]);
  expect(await messages(env, { 'filter[search]': 'quota_used' })).toHaveLength(1);
  expect(await messages(env, { 'filter[search]': 'quotaxused' })).toEqual([]);
  expect(await messages(env, { 'filter[search]': String.raw`c:\TEMP` })).toHaveLength(1);
  expect(await messages(env, { 'filter[search]': 'to' })).toHaveLength(1);
  expect(await messages(env, { 'filter[search]': 'x'.repeat(1_000) })).toEqual([]);
  expect(await messages(env, { 'filter[search]': 'a\u0000' })).toEqual([]);
  expect(await messages(env, { 'filter[taskIdentifier]': '\u0000' })).toEqual([]);
  expect(await messages(env, { 'filter[search]': '' })).toHaveLength(3);
});

test('counts are for the range, both ends included, while first and last seen are for all time', async () => {
  const env = await environmentWith(
    { at: 0 },
    { at: 10 },
    { at: 10.001 },
    { at: 20 },
    { at: 30, message: 'other' },
  );
  const counts = async (parameters: Record<string, string>) =>
    (await list(env, parameters)).data.map((item) => [item.errorMessage, item.count]);
  expect(
    await counts({ 'filter[from]': second(10).toISOString(), 'filter[to]': second(20).toISOString() }),
  ).toEqual([['boom', 3]]);
  expect(
    await counts({ 'filter[from]': second(10.001).toISOString(), 'filter[to]': second(19).toISOString() }),
  ).toEqual([['boom', 1]]);
  expect(await counts({ 'filter[from]': String(second(11).getTime()) })).toEqual([
    ['other', 1],
    ['boom', 1],
  ]);
  expect(await counts({ 'filter[to]': second(0).toISOString() })).toEqual([['boom', 1]]);
  expect(
    await counts({ 'filter[from]': second(11).toISOString(), 'filter[to]': second(19).toISOString() }),
  ).toEqual([]);
  expect(
    await counts({ 'filter[from]': second(30).toISOString(), 'filter[to]': second(0).toISOString() }),
  ).toEqual([]);
  // Dates that PostgreSQL cannot store are still valid dates.
  expect(await counts({ 'filter[from]': '-99999999999999', 'filter[to]': '999999999999999' })).toEqual([
    ['other', 1],
    ['boom', 4],
  ]);
  const [item] = (await list(env, { 'filter[to]': second(10).toISOString() })).data;
  expect(item).toMatchObject({
    count: 2,
    firstSeen: second(0).toISOString(),
    lastSeen: second(20).toISOString(),
  });
});

test('a period counts back from now and takes precedence over from and to', async () => {
  const env = await environmentWith({ at: 0 }, { at: 3_000 }, { at: 10, message: 'other' });
  const parameters = { 'filter[from]': second(0).toISOString(), 'filter[to]': second(5).toISOString() };
  expect(await list(env, { ...parameters, 'filter[period]': '15m' })).toMatchObject({
    data: [{ errorMessage: 'boom', count: 1 }],
  });
  expect(await messages(env, { 'filter[period]': '7d' })).toEqual(['boom', 'other']);
  expect(await messages(env, { 'filter[period]': '9000w' })).toEqual(['boom', 'other']);
});
