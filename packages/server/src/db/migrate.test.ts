import { expect, onTestFinished, test } from 'vitest';
import { emptyDatabase, testDatabase, type TestDatabase } from '../../../../test/support/database.ts';
import { sqlRelease } from '../../../../test/support/sql-release.ts';
import { connect } from './connect.ts';
import { migrate } from './migrate.ts';

async function open(database: Promise<TestDatabase> = testDatabase()) {
  const { connection, drop } = await database;
  const sql = connect(connection, { name: 'test', max: 6 });
  onTestFinished(async () => {
    await sql.end({ timeout: 1 });
    await drop();
  });
  const applied = async () =>
    (await sql<{ name: string }[]>`select name from migrations order by name`).map(({ name }) => name);
  const textOf = async (name: string) => {
    const [row] = await sql<{ text: string }[]>`select prosrc as text from pg_proc where proname = ${name}`;
    return row?.text;
  };
  return { sql, applied, textOf };
}

const later = '99.0.0';
const twoTables = {
  '9001_two.sql': 'alter table installation add column one int; alter table schedules add column two int;',
};
/** Changes a function's result, or only its text. */
const replaced = (from: string, to: string) => (text: string) => {
  expect(text).toContain(from);
  return text.replaceAll(from, to);
};
const changed = { 'batches/batch_prefix': replaced("'run_'", "'RUN_'") };

test('a migration yields to servers that are running, and retries', async () => {
  const { sql, applied } = await open();
  const folder = await sqlRelease({ version: later, schema: twoTables });
  const { migrating } = await sql.begin(async (tx) => {
    // The migration locks one of them first; this transaction locks the other.
    await tx`lock table schedules in row exclusive mode`;
    const coming = migrate(sql, { folder });
    const waiting = () => tx`select from pg_locks where not granted and relation = 'schedules'::regclass`;
    await expect.poll(waiting, { timeout: 20_000, interval: 10 }).toHaveLength(1);
    await tx`update installation set paused_at = null`;
    expect(await applied()).not.toContain('9001_two.sql');
    return { migrating: coming };
  });
  expect(await migrating).toEqual({ applied: ['9001_two.sql'], installed: [] });
  expect(await migrate(sql, { folder })).toEqual({ applied: [], installed: [] });
});

test('a migration that never gets its locks changes nothing and explains the fix', async () => {
  const { sql, applied } = await open();
  const folder = await sqlRelease({ version: later, schema: twoTables, functions: changed });
  await sql.begin(async (tx) => {
    await tx`lock table schedules in row exclusive mode`;
    await expect(migrate(sql, { folder, patienceMs: 500 })).rejects.toThrow(
      /^The migration 9001_two\.sql could not get the locks for 0\.5 s: .* End its transaction and start again\.$/,
    );
  });
  expect(await applied()).not.toContain('9001_two.sql');
  expect(await sql`select column_name from information_schema.columns where column_name = 'one'`).toEqual([]);
  expect(await migrate(sql, { folder })).toEqual({ applied: ['9001_two.sql'], installed: ['batch_prefix'] });
});

test('re-creating a trigger yields to running servers as well', async () => {
  const { sql } = await open();
  const folder = await sqlRelease({
    version: later,
    functions: { 'notifications/notify_versions': replaced('deployment.registered', 'deployment.known') },
  });
  await sql.begin(async (tx) => {
    await tx`lock table versions in row exclusive mode`;
    await expect(migrate(sql, { folder, patienceMs: 300 })).rejects.toThrow(
      /^The functions could not get the locks for 0\.3 s: /,
    );
  });
  expect((await migrate(sql, { folder })).installed).toEqual(['notify_versions']);
});

test('servers that start at the same time on an empty database migrate it once', async () => {
  const { sql, applied } = await open(emptyDatabase());
  const [first, second, third] = await Promise.all([migrate(sql), migrate(sql), migrate(sql)]);
  const did = [first, second, third].filter(({ installed }) => installed.length > 0);
  expect(did).toHaveLength(1);
  expect(did[0]?.applied).toEqual(await applied());
  expect(did[0]?.installed).toHaveLength((await sql`select from installed_functions`).length);
});

test('only functions whose text differs are installed', async () => {
  const { sql, textOf } = await open();
  const versions = () =>
    sql`select proname, p.xmin::text from pg_proc p join installed_functions i on i.name = p.proname where proname <> 'batch_prefix' order by 1`;
  const before = await versions();
  const folder = await sqlRelease({ functions: changed });
  expect(await migrate(sql, { folder })).toEqual({ applied: [], installed: ['batch_prefix'] });
  expect(await textOf('batch_prefix')).toContain('RUN_');
  expect(await versions()).toEqual(before);
  expect(await migrate(sql, { folder })).toEqual({ applied: [], installed: [] });
  // the same release with another text, as in development; the last one to start wins
  expect((await migrate(sql)).installed).toEqual(['batch_prefix']);
  expect(await textOf('batch_prefix')).toContain('run_');
});

test('an older server that restarts does not replace the functions of a newer one', async () => {
  const { sql, textOf } = await open();
  const folder = await sqlRelease({ version: later, functions: changed });
  await migrate(sql, { folder });
  expect(await migrate(sql)).toEqual({ applied: [], installed: [] });
  expect(await textOf('batch_prefix')).toContain('RUN_');
  // a version in between also counts as older; a pre-release of the newest counts as the newest
  const between = await sqlRelease({ version: '9.100.0' });
  expect((await migrate(sql, { folder: between })).installed).toEqual([]);
  const candidate = await sqlRelease({ version: `${later}-rc.1` });
  expect((await migrate(sql, { folder: candidate })).installed).toEqual(['batch_prefix']);
  // dropped permanently
  await sql`delete from installed_functions`;
  expect((await migrate(sql)).installed).toContain('batch_prefix');
});

test('rejects an older server when the newer one changed the schema or removed a function', async () => {
  const { sql } = await open();
  await migrate(sql, { folder: await sqlRelease({ version: later, schema: twoTables, functions: changed }) });
  await expect(migrate(sql)).rejects.toThrow(
    'This database was migrated by a newer Millrace (9001_two.sql). Start that version, or use another database.',
  );
  await sql`delete from migrations where name = '9001_two.sql'`;
  await sql`drop function session_messages`;
  await expect(migrate(sql)).rejects.toThrow('migrated by a newer Millrace (session_messages)');
});

test('installs all functions or none, and the next start retries after a failure', async () => {
  const { sql, applied } = await open(emptyDatabase());
  const broken = await sqlRelease({
    functions: { 'waitpoints/complete_waitpoint': () => 'create function;' },
  });
  await expect(migrate(sql, { folder: broken })).rejects.toThrow('syntax error');
  expect(await applied()).not.toEqual([]);
  expect(await sql`select proname from pg_proc where proname = 'batch_prefix'`).toEqual([]);
  const { applied: names, installed } = await migrate(sql);
  expect(names).toEqual([]);
  expect(installed).toContain('complete_waitpoint');
});

test('reinstalls a function that was dropped', async () => {
  const { sql } = await open();
  await sql`drop function batch_runs`;
  expect((await migrate(sql)).installed).toEqual(['batch_runs']);
});

test.each([
  [
    'result',
    { 'batches/is_batch_over': replaced('returns boolean', 'returns int') },
    /cannot change return type/,
  ],
  [
    'parameter list',
    {
      'batches/batch_prefix': replaced(
        'batch_prefix(p_batch text)',
        'batch_prefix(p_batch text, p_more int)',
      ),
    },
    /function batch_prefix has two parameter lists/,
  ],
])('rejects a function with another %s, because older servers call it', async (_, functions, reason) => {
  const { sql, textOf } = await open();
  const folder = await sqlRelease({ version: later, functions });
  const migrating = migrate(sql, { folder });
  await expect(migrating).rejects.toThrow(reason);
  await expect(migrating).rejects.toThrow('needs a new name');
  expect(await textOf('batch_prefix')).toContain('run_');
  expect(await migrate(sql)).toEqual({ applied: [], installed: [] });
});
