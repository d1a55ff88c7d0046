import { chownSync, existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import postgres from 'postgres';
import { expect, onTestFinished, test } from 'vitest';
import { isRunning } from '../../../platform/src/process-start.ts';
import { startPostgres, type PostgresConnection } from './start.ts';
import {
  bothWays,
  hasProc,
  isRoot,
  kill9,
  startOwnerProcess,
  createDataFolder,
  serverPid,
  spawnOwnerProcess,
  createTemporaryFolder,
  until,
  watchdogOf,
} from './testing/folders.ts';

function pool(connection: PostgresConnection, max: number): postgres.Sql {
  const sql = postgres({ ...connection, max, onnotice: () => {} });
  onTestFinished(() => sql.end({ timeout: 0 }));
  return sql;
}

test.each(bothWays)(
  'a server killed during writes restarts with every acknowledged row (%s)',
  async (ways) => {
    const dataDir = await createDataFolder(ways);
    const log: string[] = [];
    const running = await startPostgres({ dataDir, ways, onLog: (line) => log.push(line) });
    onTestFinished(() => running.stop());
    const sql = pool(running.connection, 8);
    await sql`create table stored (id integer primary key)`;

    const acknowledged: number[] = [];
    let next = 0;
    // Each client writes until its connection breaks.
    const write = async (): Promise<never> => {
      for (;;) {
        const id = (next += 1);
        await sql`insert into stored values (${id})`;
        acknowledged.push(id);
      }
    };
    const writers = Promise.allSettled(Array.from({ length: 8 }, write));
    await until(() => acknowledged.length > 300, 10_000);
    const before = serverPid(dataDir);
    process.kill(before, 'SIGKILL');
    await writers;
    await until(
      () => log.filter((line) => line.includes('ready to accept connections')).length === 2,
      10_000,
    );

    expect(serverPid(dataDir)).not.toBe(before);
    expect(log).toContain('PostgreSQL stopped unexpectedly: restarting it');
    const stored = await pool(running.connection, 1)<{ id: number }[]>`select id from stored`;
    const ids = new Set(stored.map(({ id }) => id));
    expect(acknowledged.filter((id) => !ids.has(id))).toEqual([]);
  },
);

test('a session that outlives its killed server does not stop the new server', async () => {
  const dataDir = await createDataFolder();
  const log: string[] = [];
  const running = await startPostgres({ dataDir, onLog: (line) => log.push(line) });
  onTestFinished(() => running.stop());
  const watcher = pool(running.connection, 1);
  // It never waits for anything, so it does not notice that its server has gone.
  const endless = pool(running.connection, 1)`select count(*) from generate_series(1, 1000000000000)`.catch(
    () => 'ended',
  );
  const active = async (): Promise<boolean> => {
    const found = await watcher`
      select 1 from pg_stat_activity
      where state = 'active' and query like '%generate_series%' and pid <> pg_backend_pid()`;
    return found.length > 0;
  };
  await until(active, 5000);
  await kill9(serverPid(dataDir));
  expect(await endless).toBe('ended');
  await until(() => log.filter((line) => line.includes('ready to accept connections')).length === 2, 10_000);
  expect(await pool(running.connection, 1)`select 1 as n`).toEqual([{ n: 1 }]);
});

test.each(bothWays)(
  'the server ends within two seconds after its parent is killed, without data loss (%s)',
  async (ways) => {
    const dataDir = await createDataFolder(ways);
    const owner = await startOwnerProcess(dataDir, {}, ways);
    const sql = postgres({ ...owner.connection!, max: 1 });
    await sql`create table stored as select 42 as answer`;
    const server = serverPid(dataDir);
    owner.child.kill('SIGKILL');
    await until(() => !isRunning(server), 2000);
    await sql.end({ timeout: 0 });

    const running = await startPostgres({ dataDir, ways });
    onTestFinished(() => running.stop());
    const again = postgres({ ...running.connection, max: 1 });
    onTestFinished(() => again.end());
    expect(await again`select answer from stored`).toEqual([{ answer: 42 }]);
  },
);

test.runIf(hasProc).each(bothWays)(
  'a server whose owner and watchdog were both killed is replaced by the next start (%s)',
  async (ways) => {
    const dataDir = await createDataFolder(ways);
    const owner = await startOwnerProcess(dataDir, {}, ways);
    const server = serverPid(dataDir);
    // Stopped first, so that the owner cannot react to the death of the watchdog.
    owner.child.kill('SIGSTOP');
    for (const pid of watchdogOf(server)) await kill9(pid);
    await kill9(owner.child.pid!);
    expect(isRunning(server)).toBe(true);

    const log: string[] = [];
    const running = await startPostgres({ dataDir, ways, onLog: (line) => log.push(line) });
    onTestFinished(() => running.stop());
    expect(isRunning(server)).toBe(false);
    expect(log).toContainEqual(expect.stringContaining(`PostgreSQL process ${server} was left running`));
  },
);

test('a second process on the folder is rejected; of several that compete, one wins', async () => {
  const dataDir = createTemporaryFolder();
  const owners = await Promise.all([1, 2, 3].map(() => startOwnerProcess(dataDir)));
  const winners = owners.filter(({ connection }) => connection);
  expect(winners).toHaveLength(1);
  const refusal = {
    name: 'DataFolderInUse',
    message: expect.stringContaining(`${dataDir} is in use by process ${winners[0]!.child.pid}`),
  };
  const refusals = owners.flatMap(({ refused }) => refused ?? []);
  expect(refusals).toEqual([refusal, refusal]);
});

test.each(bothWays)(
  'a first start that is killed leaves no partial cluster, and the next start creates one (%s)',
  async (ways) => {
    const dataDir = createTemporaryFolder(ways);
    const child = spawnOwnerProcess(dataDir, {}, ways);
    await until(() => readdirSync(dataDir).some((name) => name.startsWith('postgres.new-')), 5000);
    await kill9(child.pid!);
    expect(existsSync(join(dataDir, 'postgres'))).toBe(false);
    const running = await startPostgres({ dataDir, ways });
    onTestFinished(() => running.stop());
    expect(existsSync(join(dataDir, 'postgres', 'PG_VERSION'))).toBe(true);
  },
);

test.runIf(isRoot)(
  'an unprivileged user can run a server, and still owns the data after root ran it',
  async () => {
    const dataDir = createTemporaryFolder();
    chownSync(dataDir, 65534, 65534);
    const owner = await startOwnerProcess(dataDir, { uid: 65534, gid: 65534 });
    expect(owner.refused).toBeUndefined();
    const server = serverPid(dataDir);
    owner.child.kill('SIGKILL');
    await until(() => !isRunning(server), 2000);
    const running = await startPostgres({ dataDir });
    onTestFinished(() => running.stop());
    expect(statSync(join(dataDir, 'postgres')).uid).toBe(65534);
  },
);
