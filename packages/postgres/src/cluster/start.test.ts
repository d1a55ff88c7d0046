import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import postgres from 'postgres';
import { expect, onTestFinished, test } from 'vitest';
import type { Ways } from '../../../platform/src/ways.ts';
import { startPostgres, type PostgresConnection, type RunningPostgres } from './start.ts';
import {
  bothWays,
  isRoot,
  createDataFolder,
  serverPid,
  createTemporaryFolder,
  visit,
} from './testing/folders.ts';

async function start(dataDir: string, ways: Ways = 'unix'): Promise<RunningPostgres> {
  const running = await startPostgres({ dataDir, ways });
  onTestFinished(() => running.stop());
  return running;
}

async function ask<Row extends postgres.Row>(connection: PostgresConnection, query: string): Promise<Row[]> {
  const sql = postgres({ ...connection, max: 1 });
  try {
    return [...(await sql.unsafe<Row[]>(query))];
  } finally {
    await sql.end();
  }
}

test.each(bothWays)(
  'the first start creates the database, the next one finds its data, and durability is on (%s)',
  async (ways) => {
    const dataDir = join(createTemporaryFolder(ways), 'data');
    const first = await start(dataDir, ways);
    const names = [
      'fsync',
      'synchronous_commit',
      'full_page_writes',
      'jit',
      'listen_addresses',
      'shared_buffers',
    ];
    const settings = await ask<{ name: string; value: string }>(
      first.connection,
      `select name, current_setting(name) as value from unnest('{${names}}'::text[]) as name`,
    );
    expect(Object.fromEntries(settings.map(({ name, value }) => [name, value]))).toEqual({
      fsync: 'on',
      synchronous_commit: 'on',
      full_page_writes: 'on',
      jit: 'off',
      listen_addresses: ways === 'unix' ? '' : '127.0.0.1',
      shared_buffers: '256MB',
    });
    await ask(first.connection, 'create table kept as select 42 as answer');
    await first.stop();
    await expect(first.exited).resolves.toEqual({ error: null });
    expect(existsSync(first.connection.host)).toBe(false);

    const second = await start(dataDir, ways);
    expect(await ask(second.connection, 'select answer from kept')).toEqual([{ answer: 42 }]);
  },
);

test('only the user of the server can access the socket folder and the cluster', async () => {
  const dataDir = await createDataFolder();
  const { connection } = await start(dataDir);
  for (const folder of [connection.host, join(dataDir, 'postgres')])
    expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test('a path too long for a socket uses a short folder, which is removed afterwards', async () => {
  const dataDir = join(createTemporaryFolder(), 'deep'.repeat(20), 'deeper'.repeat(20));
  const running = await start(dataDir);
  expect(Buffer.byteLength(running.connection.host)).toBeLessThan(85);
  expect(await ask(running.connection, 'select 1 as n')).toEqual([{ n: 1 }]);
  await running.stop();
  expect(existsSync(running.connection.host)).toBe(false);
});

test.each(bothWays)('serves a path with spaces, quotes and commas (%s)', async (ways) => {
  const { connection } = await start(join(createTemporaryFolder(ways), `my "data", here's`), ways);
  expect(await ask(connection, 'select 1 as n')).toEqual([{ n: 1 }]);
});

test.each(bothWays)('a lock file with a reused process ID does not prevent the start (%s)', async (ways) => {
  const dataDir = await createDataFolder(ways);
  writeFileSync(join(dataDir, 'postgres', 'postmaster.pid'), `${process.ppid}\n${dataDir}/postgres\n`);
  await start(dataDir, ways);
  expect(serverPid(dataDir)).not.toBe(process.ppid);
});

test('rejects data of another major version without changing it', async () => {
  const dataDir = createTemporaryFolder();
  mkdirSync(join(dataDir, 'postgres'));
  writeFileSync(join(dataDir, 'postgres', 'PG_VERSION'), '11\n');
  await expect(startPostgres({ dataDir })).rejects.toMatchObject({
    code: 'other_version',
    message: expect.stringMatching(/made by PostgreSQL 11, but this Millrace includes PostgreSQL 18/),
  });
});

test('rejects a file as the data folder', async () => {
  const dataDir = join(createTemporaryFolder(), 'file');
  writeFileSync(dataDir, '');
  await expect(startPostgres({ dataDir })).rejects.toThrow(`The data folder ${dataDir} is not a folder`);
});

test.each(bothWays)('stop can be called twice, and releases the folder (%s)', async (ways) => {
  const dataDir = await createDataFolder(ways);
  const first = await start(dataDir, ways);
  await Promise.all([first.stop(), first.stop()]);
  const second = await start(dataDir, ways);
  expect(await ask(second.connection, 'select 1 as n')).toEqual([{ n: 1 }]);
});

test.runIf(isRoot)(
  "root's data is in a folder that no other user can access, and the server does not run as root",
  async () => {
    const locked = createTemporaryFolder();
    chmodSync(locked, 0o700);
    const dataDir = join(locked, 'data');
    const { connection } = await start(dataDir);
    expect(await ask(connection, 'select 1 as n')).toEqual([{ n: 1 }]);
    expect(statSync(`/proc/${serverPid(dataDir)}`).uid).not.toBe(0);
    expect(statSync(locked).mode & 0o777).toBe(0o700);
  },
);

const notPeer = { refused: expect.stringMatching(/Peer authentication failed/) };

/** Like a data folder created by root: searchable by everyone. */
async function openFolder(): Promise<string> {
  const dataDir = await createDataFolder();
  chmodSync(dataDir, 0o711);
  return dataDir;
}

test.runIf(isRoot)("rejects connections from other processes of the server's user", async () => {
  const dataDir = await openFolder();
  const { connection } = await start(dataDir);
  const { uid, gid } = statSync(join(dataDir, 'postgres'));
  expect(uid).not.toBe(0);
  expect(await visit(connection.host, 'millrace', { uid, gid })).toEqual(notPeer);
  expect(await visit(connection.host, 'nobody', { uid, gid })).toEqual({
    refused: expect.stringMatching(/Peer authentication failed|does not exist/),
  });
  expect(await visit(connection.host, 'millrace', {})).toEqual({ entered: 'millrace' });
});

test.runIf(isRoot)(
  'the next start restricts a folder of an earlier version that was open to all',
  async () => {
    const dataDir = await openFolder();
    const rules = join(dataDir, 'postgres', 'pg_hba.conf');
    writeFileSync(rules, 'local all all trust\nhost all all 127.0.0.1/32 trust\n');
    const { connection } = await start(dataDir);
    const { uid, gid } = statSync(join(dataDir, 'postgres'));
    expect(await visit(connection.host, 'millrace', { uid, gid })).toMatchObject({
      refused: expect.any(String),
    });
    expect(await ask(connection, 'select 1 as n')).toEqual([{ n: 1 }]);
  },
);

test.runIf(isRoot)('root does not follow a link that replaced the access rules', async () => {
  const dataDir = await createDataFolder();
  const precious = join(createTemporaryFolder(), 'precious');
  writeFileSync(precious, 'unchanged');
  const rules = join(dataDir, 'postgres', 'pg_hba.conf');
  rmSync(rules);
  symlinkSync(precious, rules);
  await start(dataDir);
  expect(readFileSync(precious, 'utf8')).toBe('unchanged');
  expect(lstatSync(rules).isSymbolicLink()).toBe(false);
});
