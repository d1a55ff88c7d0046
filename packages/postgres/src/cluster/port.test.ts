import { once } from 'node:events';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import postgres from 'postgres';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from './free-port.ts';
import { runningConnection } from './running.ts';
import { startPostgres, type PostgresConnection, type RunningPostgres } from './start.ts';
import { createDataFolder, createTemporaryFolder } from './testing/folders.ts';

const passwordFile = (dataDir: string): string => join(dataDir, 'postgres', 'millrace.password');

async function start(dataDir: string, choosePort?: () => Promise<number>): Promise<RunningPostgres> {
  const running = await startPostgres({ dataDir, ways: 'windows', ...(choosePort && { choosePort }) });
  onTestFinished(() => running.stop());
  return running;
}

async function enter(connection: PostgresConnection | string): Promise<string> {
  const options = { max: 1, connect_timeout: 10 };
  const sql =
    typeof connection === 'string' ? postgres(connection, options) : postgres({ ...connection, ...options });
  try {
    const [row] = await sql<{ user: string }[]>`select current_user as user`;
    return row?.user ?? '';
  } catch (error) {
    return (error as Error).message;
  } finally {
    await sql.end({ timeout: 0 });
  }
}

test('a server at a port requires its password, and listens on this machine only', async () => {
  const dataDir = join(createTemporaryFolder('windows'), 'data');
  const { connection, url } = await start(dataDir);
  expect(connection).toMatchObject({ host: '127.0.0.1', password: expect.stringMatching(/^[\w-]{32}$/) });
  expect(await enter(connection)).toBe('millrace');
  expect(await enter(url)).toBe('millrace');
  const { password, ...without } = connection;
  expect(await enter({ ...without, password: 'guessed' })).toMatch(/password authentication failed/);
  expect(await enter({ ...without, password: '' })).toMatch(/password/i);
  expect(await enter({ ...connection, username: 'postgres' })).toMatch(/no pg_hba.conf entry/);
  const rules = readFileSync(join(dataDir, 'postgres', 'pg_hba.conf'), 'utf8')
    .split('\n')
    .slice(1);
  expect(rules).toEqual(['host all millrace 127.0.0.1/32 scram-sha-256', '']);
  expect(readFileSync(passwordFile(dataDir), 'utf8')).toBe(`${password}\n`);
  expect(statSync(passwordFile(dataDir)).mode & 0o777).toBe(0o600);
});

test('each data folder has its own permanent password', async () => {
  const dataDir = await createDataFolder('windows');
  const first = await start(dataDir);
  await first.stop();
  const second = await start(dataDir);
  expect(second.connection.password).toBe(first.connection.password);
  const other = await start(await createDataFolder('windows'));
  expect(other.connection.password).not.toBe(first.connection.password);
});

test('a folder with a lost password file gets a new password', async () => {
  const dataDir = await createDataFolder('windows');
  const first = await start(dataDir);
  await first.stop();
  rmSync(passwordFile(dataDir));
  const second = await start(dataDir);
  expect(second.connection.password).not.toBe(first.connection.password);
  expect(await enter(second.connection)).toBe('millrace');
});

test('a folder changes from a port to a socket and back', async () => {
  const dataDir = await createDataFolder('windows');
  const atPort = await start(dataDir);
  await atPort.stop();
  const atSocket = await startPostgres({ dataDir, ways: 'unix' });
  onTestFinished(() => atSocket.stop());
  expect(atSocket.connection).not.toHaveProperty('password');
  expect(await enter(atSocket.connection)).toBe('millrace');
  await atSocket.stop();
  expect(await enter((await start(dataDir)).connection)).toBe('millrace');
});

test('other commands read the connection of a server at a port from its data folder', async () => {
  const dataDir = await createDataFolder('windows');
  const running = await start(dataDir);
  expect(await runningConnection(dataDir)).toEqual(running.connection);
  await running.stop();
  expect(await runningConnection(dataDir)).toBeUndefined();
});

test('a stop ends sessions, writes a checkpoint and marks the server as shut down', async () => {
  const dataDir = await createDataFolder('windows');
  const log: string[] = [];
  const running = await startPostgres({ dataDir, ways: 'windows', onLog: (line) => log.push(line) });
  const session = postgres({ ...running.connection, max: 1 });
  onTestFinished(() => session.end({ timeout: 0 }));
  const sleeping = session`select pg_sleep(60)`.catch((error: Error) => error.message);
  await wait(200);
  await running.stop();
  expect(await sleeping).toMatch(/terminating connection|CONNECTION_/);
  expect(log.join('\n')).toMatch(/received fast shutdown request[^]*database system is shut down/);
});

test('uses another port if the chosen one was taken in the meantime', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void taken.close());
  await once(taken, 'listening');
  const address = taken.address() as { port: number };
  const ports = [address.port];
  const running = await start(await createDataFolder('windows'), async () => ports.shift() ?? freePort());
  expect(running.connection.port).not.toBe(address.port);
  expect(await enter(running.connection)).toBe('millrace');
});

test('rejects features that a server at a port does not support', async () => {
  const dataDir = await createDataFolder('windows');
  await expect(
    startPostgres({ dataDir, ways: 'windows', archiveTo: createTemporaryFolder() }),
  ).rejects.toThrow(/archives its WAL with a shell, which Windows does not have. Start without --backups/);
  writeFileSync(join(dataDir, 'postgres', 'recovery.signal'), '');
  await expect(startPostgres({ dataDir, ways: 'windows' })).rejects.toThrow(
    /made of a database without a password/,
  );
});
