/** WAL that could not be archived before a crash is available to restores. */
import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { startInstallation } from './installation.ts';

test('a server reports that it cannot archive, and after a crash a backup archives the missing WAL', async () => {
  const installation = await startInstallation();
  onTestFinished(() => installation.end());
  const { folder, run, server, trigger, query, serve, retrieve } = installation;
  expect(await run('backup', '--data', 'data', '--to', 'backups')).toMatchObject({ exitCode: 0 });
  const wal = join(folder, 'backups/wal');
  await chmod(wal, 0o500);
  const before = (await trigger('quick', { n: 1 })).id;
  await query('data', (sql) => sql`select pg_switch_wal()`);
  await pause(20);
  const moment = new Date().toISOString();
  await pause(20);
  const after = (await trigger('quick', { n: 2 })).id;
  await query('data', (sql) => sql`select pg_switch_wal()`);
  await server.line(/"level":"warn".*"event":"wal.unarchived".*archive command failed/);
  const [postmaster] = (await readFile(join(folder, 'data/postgres/postmaster.pid'), 'utf8')).split('\n');
  server.kill('SIGKILL');
  process.kill(Number(postmaster), 'SIGKILL');
  await server.exitCode;

  await chmod(wal, 0o700);
  // Starts PostgreSQL without archiving; it recovers from the crash and no longer needs the old WAL.
  expect((await run('doctor', '--data', 'data', '--json')).stdout).toMatch(/^\{"version"/);
  expect(await run('backup', '--data', 'data', '--to', 'backups')).toMatchObject({ exitCode: 0 });
  const key = ['--master-key-file', 'data/master.key'];
  const restored = await run('restore', '--from', 'backups', '--to', 'restored', '--at', moment, ...key);
  expect(restored).toMatchObject({ exitCode: 0 });
  await serve('restored');
  expect([await retrieve(before), await retrieve(after)]).toMatchObject([{ id: before }, undefined]);
}, 120_000);
