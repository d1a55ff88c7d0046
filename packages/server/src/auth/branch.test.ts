import { expect, test } from 'vitest';
import { branchName } from './branch.ts';

test.each([
  [undefined, undefined],
  ['', undefined],
  ['feat/x', 'feat/x'],
  [' feat', ' feat'],
  ['default', 'default'],
  ['refs/heads/feat/x', 'feat/x'],
  ['refs/heads/refs/heads/x', 'refs/heads/x'],
  ['refs/remotes/origin/x', 'origin/x'],
  ['refs/tags/v1', 'v1'],
  ['refs/pull/12/merge', '12/merge'],
  ['refs/merge/1', '1'],
  ['refs/release/2', '2'],
  ['refs/heads/', undefined],
  ['refs/other/x', undefined],
  ['refs/', undefined],
])('the header %j names the branch %j', (header, branch) => {
  expect(branchName(header)).toBe(branch);
});
