import { expect, test } from 'vitest';
import { codeowners } from './codeowners.ts';

test.each([
  // A pattern without a slash matches at any depth.
  ['*', 'tasks/charge.ts', '@a'],
  ['*', '.github/x.yml', '@a'],
  ['*.ts', 'a/b/charge.ts', '@a'],
  ['*.ts', 'a/b/charge.js', undefined],
  ['charge.ts', 'a/charge.ts', '@a'],
  ['tasks', 'packages/tasks/charge.ts', '@a'],
  ['tasks/', 'packages/tasks/deep/charge.ts', '@a'],
  ['tasks/', 'tasks', undefined],
  // A slash at the beginning or in the middle binds it to the root.
  ['/tasks/', 'tasks/charge.ts', '@a'],
  ['/tasks/', 'packages/tasks/charge.ts', undefined],
  ['/tasks', 'tasks/deep/charge.ts', '@a'],
  ['packages/tasks', 'packages/tasks/charge.ts', '@a'],
  ['packages/tasks', 'x/packages/tasks/charge.ts', undefined],
  ['**/tasks', 'x/packages/tasks/charge.ts', '@a'],
  ['**/tasks', 'tasks/charge.ts', '@a'],
  ['apps/**/tasks/', 'apps/a/b/tasks/charge.ts', '@a'],
  ['apps/**/tasks/', 'apps/tasks/charge.ts', '@a'],
  ['tasks/**', 'tasks/a/b.ts', '@a'],
  // An asterisk at the end of a path covers files, not folders.
  ['tasks/*', 'tasks/charge.ts', '@a'],
  ['tasks/*', 'tasks/deep/charge.ts', undefined],
  ['tasks/*.ts', 'tasks/charge.ts', '@a'],
  ['tasks/?.ts', 'tasks/a.ts', '@a'],
  ['tasks/?.ts', 'tasks/ab.ts', undefined],
  // Everything else is literal.
  ['/app/(group)/page.ts', 'app/(group)/page.ts', '@a'],
  ['/app/{a,b}.ts', 'app/a.ts', undefined],
  ['/app/$id+x.ts', 'app/$id+x.ts', '@a'],
  [String.raw`/my\ tasks/`, 'my tasks/charge.ts', '@a'],
  [String.raw`\#1.ts`, '#1.ts', '@a'],
  // Case matters.
  ['/Tasks/', 'tasks/charge.ts', undefined],
  // GitHub ignores these lines.
  ['!tasks/charge.ts', 'tasks/charge.ts', undefined],
  ['/', 'tasks/charge.ts', undefined],
])('the pattern %s for %s gives %s', (pattern, path, owner) => {
  expect(codeowners(`${pattern} @a`)(path)).toBe(owner);
});

test('the last matching line decides, with its first owner', () => {
  const ownerOf = codeowners(
    [
      '# the default',
      '* @org/everyone ana@example.com',
      '/tasks/ ana@example.com @b # a comment',
      '/tasks/free/',
      '/tasks/bad/ nobody',
      '',
    ].join('\r\n'),
  );
  expect(ownerOf('src/index.ts')).toBe('@org/everyone');
  expect(ownerOf('tasks/charge.ts')).toBe('ana@example.com');
  // A line without owners removes them; a line with only invalid ones is ignored.
  expect(ownerOf('tasks/free/charge.ts')).toBeUndefined();
  expect(ownerOf('tasks/bad/charge.ts')).toBe('ana@example.com');
});

test('lines below a heading of GitLab have its owners, unless they name others', () => {
  const ownerOf = codeowners(
    '* @all\n^[Payments][2] @payments @b\n/tasks/\n/tasks/mail.ts @mail\n[Docs]\n/docs/',
  );
  expect(ownerOf('tasks/charge.ts')).toBe('@payments');
  expect(ownerOf('tasks/mail.ts')).toBe('@mail');
  expect(ownerOf('docs/x.md')).toBeUndefined();
  expect(ownerOf('a.ts')).toBe('@all');
});

test('a long or hostile file is read quickly and without a failure', () => {
  const long = `${'*'.repeat(10_000)} @a\n${'a/'.repeat(5_000)} @b\n* ${'@'.repeat(10_000)}\n\\\n[ @c\n`;
  expect(codeowners(long)('tasks/charge.ts')).toBe('@a');
});
