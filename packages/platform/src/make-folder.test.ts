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

test('creates a folder with its parents, also concurrently', async () => {
  const path = join(await folder(), 'a/b/c');
  await Promise.all([makeFolder(path), makeFolder(path), makeFolder(path, 0o700)]);
  await makeFolder(path);
  expect((await stat(path)).isDirectory()).toBe(true);
});

test('reports a file that has the path of the folder or a parent', async () => {
  const file = join(await folder(), 'file');
  await writeFile(file, '');
  for (const path of [file, join(file, 'a/b')]) {
    await expect(makeFolder(path)).rejects.toMatchObject({
      name: 'FolderRefused',
      message: `${path} is a file, not a folder. Choose another folder.`,
    });
  }
});

test.runIf(process.platform === 'linux')(
  'rejects a folder in /proc instead of retrying forever',
  async () => {
    await expect(makeFolder('/proc/nope/a')).rejects.toMatchObject({ name: 'FolderRefused' });
  },
);

test.each(['EACCES', 'EPERM', 'EROFS'])('reports a folder without write permission: %s', (code) => {
  const error = explainFolder(Object.assign(new Error(code), { code }), '/srv/app');
  expect(error).toMatchObject({ name: 'FolderRefused' });
  expect((error as Error).message).toContain(`/srv/app is not writable (${code})`);
});
