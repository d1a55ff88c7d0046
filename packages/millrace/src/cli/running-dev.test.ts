import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { processStart } from '../../../platform/src/process-start.ts';
import { privateFileOf } from './private-folder.ts';
import { findDev, ownDev } from './running-dev.ts';

const running = { url: 'http://127.0.0.1:4400', key: 'svc_dev_sk_0', token: 'svc_pat_0' };

function folders(): { dir: string; privateFolder: string } {
  const parent = realpathSync(mkdtempSync(join(tmpdir(), 'millrace-test-')));
  onTestFinished(() => rmSync(parent, { recursive: true }));
  const dir = join(parent, 'Project');
  mkdirSync(dir);
  return { dir, privateFolder: join(parent, 'private') };
}

test('without file owners, a dev is found by its file in a private folder, also from a subfolder', async () => {
  const { dir, privateFolder } = folders();
  const owned = await ownDev(dir, privateFolder);
  expect(await findDev(dir, privateFolder)).toBeUndefined();
  await owned.remember(running);
  const below = join(dir, 'tasks');
  mkdirSync(below);
  for (const folder of [dir, below])
    expect(await findDev(folder, privateFolder)).toEqual({ ...running, pid: process.pid });
  expect(existsSync(join(dir, '.millrace', 'dev.json'))).toBe(false);
  await expect(ownDev(dir, privateFolder)).rejects.toThrow(`process ${process.pid} at ${running.url}`);
  await owned.release();
  expect(await findDev(dir, privateFolder)).toBeUndefined();
  expect(readdirSync(privateFolder)).toEqual([]);
});

test('without file owners, ignores files in the project and files of ended processes', async () => {
  const { dir, privateFolder } = folders();
  const pid = process.pid;
  mkdirSync(join(dir, '.millrace'));
  writeFileSync(
    join(dir, '.millrace', 'dev.json'),
    JSON.stringify({ ...running, pid, birth: processStart(pid) }),
  );
  expect(await findDev(dir, privateFolder)).toBeUndefined();
  mkdirSync(privateFolder);
  const file = await privateFileOf(privateFolder, dir);
  for (const gone of [spawnSync('true').pid, 0, -1, 1.5]) {
    writeFileSync(file, JSON.stringify({ ...running, pid: gone, birth: null }));
    expect(await findDev(dir, privateFolder)).toBeUndefined();
  }
  writeFileSync(file, JSON.stringify({ ...running, url: 'https://elsewhere.example.com', pid, birth: null }));
  expect(await findDev(dir, privateFolder)).toBeUndefined();
});

test('a folder has one private file, regardless of the case of its path', async () => {
  expect(await privateFileOf('private', 'C:\\Work\\App')).toBe(
    await privateFileOf('private', 'c:\\work\\app'),
  );
  expect(await privateFileOf('private', 'C:\\Work\\App')).not.toBe(
    await privateFileOf('private', 'C:\\Work'),
  );
});
