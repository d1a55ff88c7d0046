import { glob, readFile } from 'node:fs/promises';
import { expect, onTestFinished, test } from 'vitest';
import { catalogueOf } from '../../../../test/support/catalogue.ts';
import { emptyDatabase, testDatabase, type TestDatabase } from '../../../../test/support/database.ts';
import { connect } from './connect.ts';
import { readSqlFolder, sqlFolder } from './sql-folder.ts';

async function open(database: TestDatabase) {
  const sql = connect(database.connection, { name: 'test', max: 4 });
  onTestFinished(async () => {
    await sql.end({ timeout: 1 });
    await database.drop();
  });
  return sql;
}

const { schema, functions } = readSqlFolder(sqlFolder);
const withoutComments = (text: string): string => text.replaceAll(/--.*$/gm, '');

test('a migrated database contains exactly the objects defined in the folder, and every function is valid', async () => {
  const fresh = await open(await emptyDatabase());
  await fresh.session(async (session) => {
    for (const { text } of schema) await session.unsafe(text);
    await session.unsafe('set check_function_bodies = off');
    for (const { text } of functions) await session.unsafe(text);
    // All functions exist now, so each can resolve the functions it calls.
    await session.unsafe('set check_function_bodies = on');
    for (const { text } of functions) await session.unsafe(text);
  });
  const migrated = await open(await testDatabase());
  const catalogue = await catalogueOf(migrated);
  expect(catalogue).toEqual(await catalogueOf(fresh));

  const ofSchema = schema.flatMap(({ text }) =>
    [...text.matchAll(/^create function (\w+)/gm)].map(([, name = '']) => name),
  );
  const names = Object.keys(catalogue['functions'] ?? {}).map((signature) => signature.replace(/\(.*/, ''));
  expect(names.toSorted()).toEqual([...functions.map(({ name }) => name), ...ofSchema].toSorted());
});

test('detects a change to any kind of object in a database', async () => {
  const sql = await open(await testDatabase());
  const before = await catalogueOf(sql);
  for (const [kind, change] of Object.entries({
    tables: 'alter table leases reset (vacuum_truncate)',
    columns: 'alter table runs alter attempt drop default',
    constraints: 'alter table runs drop constraint runs_check',
    indexes: 'drop index leases_by_queue_key',
    functions: 'alter function claim_lock set enable_seqscan = off',
    triggers: 'alter table runs disable trigger runs_awaited',
    sequences: 'alter sequence lane_turns increment 2',
  })) {
    await sql.unsafe(change);
    expect((await catalogueOf(sql))[kind], change).not.toEqual(before[kind]);
  }
});

test('a file contains one function with its name, preceded by its locks and its callers', async () => {
  const uses = new Map(functions.map(({ name, text }) => [name, withoutComments(text)]));
  const folder = new URL('../', import.meta.url);
  for await (const path of glob('**/*.ts', { cwd: folder })) {
    if (/\.test\.ts$|testing\//.test(path)) continue;
    uses.set(path.replaceAll('\\', '/'), await readFile(new URL(path, folder), 'utf8'));
  }
  for (const { name, text } of functions) {
    expect([...text.matchAll(/^create or replace function (\w+)/gm)].map((found) => found[1])).toEqual([
      name,
    ]);
    const head = text.slice(0, text.indexOf('create or replace function'));
    expect(head, name).toMatch(/^-- Locks: .+\.$|^-- Locks: .+\n(-- {8}.+\n)*-- {8}.+\.$/m);
    const callers = [...uses]
      .filter(([user, code]) => user !== name && new RegExp(`\\b${name}\\(`).test(code))
      .map(([user]) => user);
    const triggers = text.match(/create or replace trigger/g)?.length ?? 0;
    if (triggers > 0) callers.push(triggers === 1 ? 'the trigger below' : 'the triggers below');
    const [, listed = ''] = /^-- Callers: ((?:.|\n-- {9})+)\.$/m.exec(head) ?? [];
    expect(
      listed
        .split(/,\s(?:-- +)?/)
        .map((caller) => caller.trim())
        // A replaced function stays for one release.
        .filter((caller) => caller !== 'servers of the previous release')
        .toSorted(),
      name,
    ).toEqual(callers.toSorted());
  }
});
