import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DataFolderInUse } from './data-folder-in-use.ts';
import { lockFolder } from './folder-lock.ts';
import { processStart } from './process-start.ts';
import { createTemporaryFolder } from '../../postgres/src/cluster/testing/folders.ts';

test('a folder has one owner; the error contains the folder and the process', async () => {
  const folder = createTemporaryFolder();
  await lockFolder(folder);
  const refusal = await lockFolder(folder).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(DataFolderInUse);
  expect(refusal).toMatchObject({ folder, pid: process.pid });
  expect((refusal as Error).message).toContain(`${folder} is in use by process ${process.pid}`);
});

test('a folder that was released can be owned again', async () => {
  const folder = createTemporaryFolder();
  const first = await lockFolder(folder);
  await first.release();
  const second = await lockFolder(folder);
  await expect(lockFolder(folder)).rejects.toBeInstanceOf(DataFolderInUse);
  await second.release();
});

test('of many processes that compete for the folder of a dead owner, exactly one gets it', async () => {
  const dead = spawnSync('true').pid;
  for (let round = 0; round < 30; round += 1) {
    const folder = createTemporaryFolder();
    writeFileSync(join(folder, 'owner.41'), JSON.stringify({ pid: dead, birth: 'long ago' }));
    const results = await Promise.allSettled(Array.from({ length: 12 }, () => lockFolder(folder)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(readdirSync(folder)).toEqual(['owner.42']);
  }
});

test('an owner whose process id now belongs to another process does not count', async () => {
  const folder = createTemporaryFolder();
  writeFileSync(
    join(folder, 'owner.1'),
    JSON.stringify({ pid: process.pid, birth: `not ${processStart(process.pid)}` }),
  );
  await expect(lockFolder(folder)).resolves.toBeDefined();
});

test('an owner file truncated by a power failure does not lock the folder permanently', async () => {
  const folder = createTemporaryFolder();
  writeFileSync(join(folder, 'owner.1'), '');
  await expect(lockFolder(folder)).resolves.toBeDefined();
});

test('an owner with an unknown start time counts while a process has its ID', async () => {
  const folder = createTemporaryFolder();
  writeFileSync(join(folder, 'owner.1'), JSON.stringify({ pid: process.ppid, birth: null }));
  await expect(lockFolder(folder)).rejects.toBeInstanceOf(DataFolderInUse);
  writeFileSync(join(folder, 'owner.1'), JSON.stringify({ pid: spawnSync('true').pid, birth: null }));
  await expect(lockFolder(folder)).resolves.toBeDefined();
});
