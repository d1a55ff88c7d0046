import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readGitInfo } from './git.ts';

async function repository(): Promise<{ dir: string; git: (...args: string[]) => string }> {
  const dir = await mkdtemp(join(tmpdir(), 'millrace-git-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const settings = ['-c', 'user.name=Ada Lovelace', '-c', 'user.email=ada@example.com'];
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', dir, ...settings, ...args], { encoding: 'utf8' }).trim();
  git('init', '--initial-branch=main');
  await writeFile(join(dir, 'a.txt'), 'a');
  git('add', '.');
  git('commit', '-m', 'Add a file\n\nBecause.');
  return { dir, git };
}

test('reads the commit, its author, and the remote without its credentials', async () => {
  const { dir, git } = await repository();
  const expected = {
    commit: git('rev-parse', 'HEAD'),
    branch: 'main',
    message: 'Add a file',
    author: 'Ada Lovelace',
    dirty: false,
  };
  expect(await readGitInfo(dir)).toEqual(expected);
  git('remote', 'add', 'origin', 'https://ada:secret@github.com/acme/shop.git');
  await writeFile(join(dir, 'a.txt'), 'b');
  expect(await readGitInfo(dir)).toEqual({
    ...expected,
    dirty: true,
    remote: 'https://github.com/acme/shop',
  });
});

test('a folder without a repository has none', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'millrace-git-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  expect(await readGitInfo(dir)).toBeUndefined();
});
