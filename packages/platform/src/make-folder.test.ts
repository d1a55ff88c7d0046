import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { explainFolder, makeFolder } from './make-folder.ts';

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'millrace-folder-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

test('a folder is created with those above it, also at the same time', async () => {
  const path = join(await folder(), 'a/b/c');
  await Promise.all([makeFolder(path), makeFolder(path), makeFolder(path, 0o700)]);
  await makeFolder(path);
  expect((await stat(path)).isDirectory()).toBe(true);
});

test('a file in the place of a folder, or above it, is told', async () => {
  const file = join(await folder(), 'file');
  await writeFile(file, '');
  for (const path of [file, join(file, 'a/b')]) {
    await expect(makeFolder(path)).rejects.toMatchObject({
      name: 'FolderRefused',
      message: `${path} is not a folder: there is a file in its place. Choose another.`,
    });
  }
});

test.runIf(process.platform === 'linux')(
  'a folder in /proc is refused instead of being tried for ever',
  async () => {
    await expect(makeFolder('/proc/nope/a')).rejects.toMatchObject({ name: 'FolderRefused' });
  },
);

test.each(['EACCES', 'EPERM', 'EROFS'])('a folder without write permission is told: %s', (code) => {
  const error = explainFolder(Object.assign(new Error(code), { code }), '/srv/app');
  expect(error).toMatchObject({ name: 'FolderRefused' });
  expect((error as Error).message).toContain(`/srv/app may not be written to (${code})`);
});
