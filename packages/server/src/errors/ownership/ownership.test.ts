import { listErrors, type ErrorGroupDetail } from '@millrace/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { testDatabase, type TestDatabase } from '../../../../../test/support/database.ts';
import { newId } from '../../db/ids.ts';
import { connect, type Sql } from '../../db/connect.ts';
import { listHistory } from '../life/history.ts';
import { listErrorGroups } from '../list/list.ts';
import { retrieveErrorGroup } from '../list/retrieve.ts';
import { shownTo } from '../list/redact.ts';
import { mergeErrorGroups } from '../merge/merge.ts';
import { splitErrorGroup } from '../merge/split.ts';
import {
  deploy,
  groupOf,
  newEnvironment,
  recordFailures,
  secretKey,
  userToken,
} from '../testing/failures.ts';
import { assignErrorGroup } from './assign.ts';
import { linkErrorGroup } from './link.ts';
import { noteErrorGroup } from './note.ts';

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
  await recordFailures(sql, env, at(0), [
    { message: 'card', task: 'charge' },
    { message: 'bank', task: 'charge' },
    { message: 'smtp', task: 'mail' },
    { message: 'disk', task: 'backup' },
  ]);
});

const at = (seconds: number) => new Date(Date.parse('2026-11-21T10:00:00.000Z') + seconds * 1_000);
const [card, bank, smtp, disk] = [
  { message: 'card', task: 'charge' },
  { message: 'bank', task: 'charge' },
  { message: 'smtp', task: 'mail' },
  { message: 'disk', task: 'backup' },
] as const;
type Failure = typeof card | typeof bank | typeof smtp | typeof disk;

/** Makes a version with these owners of tasks current. */
async function declare(owners: Readonly<Record<string, string>>): Promise<void> {
  const [version] = await deploy(sql, env, `version ${Math.random()}`);
  await sql`
    insert into tasks (version_id, id, manifest)
    select ${version}, o.key, jsonb_build_object('id', o.key, 'owner', o.value) from jsonb_each_text(${JSON.stringify(owners)}::text::jsonb) o`;
  await sql`
    insert into current_versions (env, version_id) values (${env}, ${version})
    on conflict (env) do update set version_id = excluded.version_id`;
}

/** A member of the environment's organization, with this address. */
async function member(email: string): Promise<string> {
  const id = newId('user');
  await sql`insert into users (id, email, name) values (${id}, ${email}, 'A member')`;
  await sql`
    insert into memberships (organization_id, user_id, role)
    select p.organization_id, ${id}, 'member' from environments e join projects p on p.id = e.project_id where e.id = ${env}`;
  return id;
}

const change = (failure: Failure) => ({
  env,
  id: groupOf(env, failure),
  now: () => at(100),
  principal: userToken,
});
const assign = (failure: Failure, assignee: string | null) =>
  assignErrorGroup(sql, { ...change(failure), assignee });
const show = (failure: Failure) => retrieveErrorGroup(sql, env, groupOf(env, failure), at(200));
const ownerOf = async (failure: Failure) => (await show(failure))?.ownership;
const history = async (failure: Failure) =>
  (await listHistory(sql, env, groupOf(env, failure), { 'page[size]': 25 }))?.data ?? [];
async function listed(query: Readonly<Record<string, string>>): Promise<string[]> {
  const { data } = await listErrorGroups(sql, { env, query: listErrors.query.parse(query), now: at(200) });
  return data.map(({ errorMessage }) => errorMessage).toSorted();
}

describe('the owner of a group', () => {
  test('is that of its task in the current version, until the group is assigned', async () => {
    expect(await ownerOf(card)).toEqual({
      owner: null,
      source: null,
      userId: null,
      note: null,
      ticketUrl: null,
    });
    await declare({ charge: '@payments' });
    expect(await ownerOf(card)).toMatchObject({ owner: '@payments', source: 'task' });
    expect(await ownerOf(disk)).toMatchObject({ owner: null, source: null });

    expect((await assign(card, '@bank'))?.ownership).toMatchObject({ owner: '@bank', source: 'owner' });
    await declare({ charge: '@checkout' });
    expect(await ownerOf(card)).toMatchObject({ owner: '@bank' });
    expect(await ownerOf(bank)).toMatchObject({ owner: '@checkout', source: 'task' });

    expect((await assign(card, null))?.ownership).toMatchObject({ owner: '@checkout', source: 'task' });
  });

  test('can be a member, by id and by address in any case, until they leave', async () => {
    await declare({ charge: '@payments' });
    const ana = await member('ana.one@example.com');
    const assigned = { owner: 'ana.one@example.com', source: 'member', userId: ana };
    expect((await assign(card, 'Ana.One@Example.com'))?.ownership).toMatchObject(assigned);
    expect((await assign(bank, ana))?.ownership).toMatchObject(assigned);
    await sql`delete from memberships where user_id = ${ana}`;
    expect(await ownerOf(card)).toMatchObject({ owner: '@payments', source: 'task', userId: null });
  });

  test('can be a person who owns a task, but no other person', async () => {
    await declare({ charge: 'Bo@example.com' });
    expect((await assign(smtp, 'bo@example.com'))?.ownership).toMatchObject({
      owner: 'bo@example.com',
      source: 'owner',
    });
    await expect(assign(smtp, 'cy@example.com')).rejects.toMatchObject({
      status: 422,
      message: expect.stringMatching(/^assignee: no member .* cy@example\.com/),
    });
    const other = newId('user');
    await sql`insert into users (id, email, name) values (${other}, 'dee@example.com', 'Dee')`;
    for (const id of [other, 'user_unknown', 'dee@example.com'])
      await expect(assign(smtp, id)).rejects.toMatchObject({ status: 422 });
    expect(await history(smtp)).toHaveLength(1);
  });

  test('is not shown to a public token as the address of a member', async () => {
    const eve = await member('eve@example.com');
    const group = (await assign(card, eve)) as ErrorGroupDetail;
    if (secretKey.kind !== 'secretKey') throw new Error('not a key');
    const publicToken = {
      ...secretKey,
      kind: 'publicToken',
      tokenDigest: '',
      signerId: '',
      expiresAt: at(0),
    } as const;
    expect(shownTo(publicToken, group).ownership).toMatchObject({ owner: null, userId: eve });
    expect(shownTo(secretKey, group).ownership).toMatchObject({ owner: 'eve@example.com' });
  });
});

test('a group of another environment is not found', async () => {
  const other = { ...change(card), env: await newEnvironment(sql) };
  expect(await assignErrorGroup(sql, { ...other, assignee: '@a' })).toBeUndefined();
  expect(await noteErrorGroup(sql, { ...other, note: 'x' })).toBeUndefined();
  expect(await linkErrorGroup(sql, { ...other, ticketUrl: null })).toBeUndefined();
});

describe('the history of a group', () => {
  test('records each change with the values before and after, and no change without an effect', async () => {
    const fay = await member('fay@example.com');
    await assign(card, '@payments');
    await assign(card, '@payments');
    await assign(card, fay);
    await noteErrorGroup(sql, { ...change(card), note: 'the bank\nknows' });
    await linkErrorGroup(sql, { ...change(card), ticketUrl: 'https://tracker.example.com/1' });
    await noteErrorGroup(sql, { ...change(card), note: null });
    await assign(card, null);
    const before = { status: 'unresolved' };
    expect(
      (await history(card))
        .toReversed()
        .map(({ act, before: old, after, userId }) => ({ act, before: old, after, userId })),
    ).toEqual(
      [
        { act: 'assigned', before, after: { owner: '@payments' } },
        { act: 'assigned', before: { ...before, owner: '@payments' }, after: { ownerUserId: fay } },
        { act: 'noted', before: { ...before, ownerUserId: fay }, after: { note: 'the bank\nknows' } },
        {
          act: 'linked',
          before: { ...before, ownerUserId: fay, note: 'the bank\nknows' },
          after: { ticketUrl: 'https://tracker.example.com/1' },
        },
        {
          act: 'noted',
          before: {
            ...before,
            ownerUserId: fay,
            note: 'the bank\nknows',
            ticketUrl: 'https://tracker.example.com/1',
          },
          after: {},
        },
        {
          act: 'assigned',
          before: { ...before, ownerUserId: fay, ticketUrl: 'https://tracker.example.com/1' },
          after: {},
        },
      ].map((entry) => ({ ...entry, userId: 'user_ann' })),
    );
  });

  test('has both of two concurrent assignments, and the last one wins', async () => {
    await Promise.all([assign(card, '@a'), assign(card, '@b')]);
    const [last, first] = await history(card);
    expect(new Set([first?.after?.owner, last?.after?.owner])).toEqual(new Set(['@a', '@b']));
    expect(last?.before.owner).toBe(first?.after?.owner);
    expect((await ownerOf(card))?.owner).toBe(last?.after?.owner);
  });
});

test('a merge keeps the assignment of the group, and a split copies it', async () => {
  await assign(card, '@a');
  await noteErrorGroup(sql, { ...change(card), note: 'keep' });
  await assign(bank, '@b');
  const errors = [groupOf(env, bank)];
  const merged = await mergeErrorGroups(sql, { ...change(card), errors });
  expect(merged?.ownership).toMatchObject({ owner: '@a', note: 'keep' });
  const part = await splitErrorGroup(sql, { ...change(card), fingerprints: ['bank'] });
  expect(part).toMatchObject({ id: groupOf(env, bank), ownership: { owner: '@a', note: 'keep' } });
  const [, mergeOfBank] = await history(bank);
  expect([mergeOfBank?.act, mergeOfBank?.before.owner]).toEqual(['assigned', undefined]);
});

test('a list by owner has the groups assigned to the owner, and those of their tasks that are not assigned', async () => {
  await declare({ charge: '@payments', mail: 'gus@example.com' });
  const gus = await member('gus@example.com');
  await assign(bank, gus);
  await assign(disk, '@Payments');
  const variants: Readonly<Record<string, string>>[] = [
    {},
    { sort: 'count' },
    { sort: 'count', 'filter[period]': '7d' },
    { sort: 'firstSeen' },
  ];
  for (const more of variants) {
    const by = (owner: string) => listed({ 'filter[owner]': owner, ...more });
    expect(await by('@payments')).toEqual(['card', 'disk']);
    expect(await by('GUS@example.com')).toEqual(['bank', 'smtp']);
    expect(await by(gus)).toEqual(['bank']);
    expect(await by('@payments,gus@example.com')).toEqual(['bank', 'card', 'disk', 'smtp']);
    expect(await by('@nobody')).toEqual([]);
    expect(await by('a\0b')).toEqual([]);
  }
  const { data } = await listErrorGroups(sql, {
    env,
    query: listErrors.query.parse({ 'filter[owner]': gus }),
    now: at(200),
  });
  expect(data[0]?.ownership).toEqual({
    owner: 'gus@example.com',
    source: 'member',
    userId: gus,
    ticketUrl: null,
  });
});

test('a list by owner finds a few groups among many of others', async () => {
  await declare({ mail: '@mail' });
  const many = Array.from({ length: 700 }, (_, index) => ({ message: `other ${index}`, task: 'bulk' }));
  await recordFailures(sql, env, at(1), many);
  await assign(disk, '@mail');
  expect(await listed({ 'filter[owner]': '@mail' })).toEqual(['disk', 'smtp']);
});
