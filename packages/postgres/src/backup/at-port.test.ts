import { join } from 'node:path';
import postgres from 'postgres';
import { expect, onTestFinished, test } from 'vitest';
import { startPostgres, type RunningPostgres } from '../cluster/start.ts';
import { createDataFolder, createTemporaryFolder } from '../cluster/testing/folders.ts';
import { restore } from './restore.ts';
import { takeBackup } from './take.ts';

async function start(dataDir: string): Promise<RunningPostgres> {
  const running = await startPostgres({ dataDir, ways: 'windows' });
  onTestFinished(() => running.stop());
  return running;
}

test('backs up a server at a port; its password opens the restored database', async () => {
  const dataDir = await createDataFolder('windows');
  const backups = join(createTemporaryFolder('windows'), 'backups');
  const { signal } = new AbortController();
  const first = await start(dataDir);
  const sql = postgres({ ...first.connection, max: 1 });
  await sql`create table answers as select 42 as answer`;
  await sql.end();
  await takeBackup({ database: first.connection, cluster: join(dataDir, 'postgres'), backups, signal });
  await first.stop();

  const dataFolder = join(createTemporaryFolder('windows'), 'restored');
  await restore({ backups, dataFolder, paused: false, signal, onStep: () => {} });
  const second = await start(dataFolder);
  expect(second.connection.password).toBe(first.connection.password);
  const again = postgres({ ...second.connection, max: 1 });
  onTestFinished(() => again.end());
  expect(await again`select answer from answers`).toEqual([{ answer: 42 }]);
});
