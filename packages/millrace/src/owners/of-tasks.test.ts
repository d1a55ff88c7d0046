import { join } from 'node:path';
import type { IndexedTask } from '@millrace/runner';
import { expect, onTestFinished, test } from 'vitest';
import { createProject } from '../../../runner/src/runner/testing/project.ts';
import { withOwners } from './of-tasks.ts';

const task = (filePath: string, owner?: string): IndexedTask => ({
  source: filePath,
  manifest: { id: filePath, filePath, ...(owner !== undefined && { owner }) },
});

async function repository(files: Readonly<Record<string, string>>): Promise<string> {
  const { dir, remove } = await createProject(files);
  onTestFinished(remove);
  return dir;
}

const ownersOf = (tasks: readonly IndexedTask[]) => tasks.map(({ manifest }) => manifest.owner);

test('tasks of a project inside a repository get the owners of their files, unless they declare one', async () => {
  const root = await repository({
    '.git/HEAD': '',
    'docs/CODEOWNERS': '/apps/shop/tasks/ @shop',
    'apps/shop/tasks/charge.ts': '',
  });
  const { tasks, file } = await withOwners(join(root, 'apps/shop'), [
    task('tasks/charge.ts'),
    task('tasks/mail.ts', '@mail'),
    task('other.ts'),
  ]);
  expect(ownersOf(tasks)).toEqual(['@shop', '@mail', undefined]);
  expect(file).toBe(join(root, 'docs/CODEOWNERS'));
});

test('the first of the four places counts', async () => {
  const all = {
    '.github/CODEOWNERS': '* @github',
    CODEOWNERS: '* @root',
    'docs/CODEOWNERS': '* @docs',
    '.gitlab/CODEOWNERS': '* @gitlab',
  };
  const names = Object.keys(all);
  for (const [index, expected] of ['@github', '@root', '@docs', '@gitlab'].entries()) {
    const left = Object.fromEntries(Object.entries(all).filter(([name]) => names.indexOf(name) >= index));
    const root = await repository({ '.git': 'gitdir: elsewhere', ...left });
    expect(ownersOf((await withOwners(root, [task('tasks/charge.ts')])).tasks)).toEqual([expected]);
  }
});

test('without a repository, the file is looked for in the project', async () => {
  const root = await repository({ CODEOWNERS: '* @own' });
  expect(ownersOf((await withOwners(root, [task('a.ts')])).tasks)).toEqual(['@own']);
  const { tasks, file } = await withOwners(await repository({}), [task('a.ts')]);
  expect([ownersOf(tasks), file]).toEqual([[undefined], undefined]);
});
