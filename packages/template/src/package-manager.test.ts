import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { allowScripts } from './install-scripts.ts';
import { changeFolder, packageManagerOf } from './package-manager.ts';

test.each([
  ['pnpm/11.2.0 npm/? node/v24.21.0 linux x64', 'pnpm'],
  ['yarn/4.9.1 npm/? node/v24.21.0 linux x64', 'yarn'],
  ['npm/11.5.1 node/v24.21.0 linux x64 workspaces/false', 'npm'],
  ['cnpm/9.0.0', 'npm'],
  [undefined, 'npm'],
])('the user agent %j is that of %s', (userAgent, name) => {
  expect(packageManagerOf(userAgent).name).toBe(name);
});

test('pnpm gets the same decisions on install scripts as npm', () => {
  const { files } = packageManagerOf('pnpm/11.2.0');
  expect(parse(files['pnpm-workspace.yaml'] ?? '')).toEqual({ allowBuilds: allowScripts });
});

test.each([
  ['.', []],
  ['apps/my-tasks', ['cd apps/my-tasks']],
  ["Ada's tasks", [String.raw`cd 'Ada'\''s tasks'`]],
])('changes to the folder %j', (dir, commands) => {
  expect(changeFolder(dir)).toEqual(commands);
});
