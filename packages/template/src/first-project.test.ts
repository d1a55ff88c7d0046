import { expect, test } from 'vitest';
import { newProject, packageName } from './first-project.ts';
import { packageManagerOf } from './package-manager.ts';

test.each([
  ['Über Tasks!', 'ber-tasks'],
  ['.hidden', 'hidden'],
  ['...', 'tasks'],
  ['audit_2', 'audit_2'],
])('names the package of the folder %j %j', (folderName, name) => {
  expect(packageName(folderName)).toBe(name);
});

test.each([
  ['npm', 'npm run dev', 'npx millrace work'],
  ['pnpm', 'pnpm run dev', 'pnpm exec millrace work'],
  ['yarn', 'yarn run dev', 'yarn millrace work'],
  ['bun', 'bun run dev', 'bunx millrace work'],
])('the README names the commands of %s', (name, dev, work) => {
  const readMe = newProject('first', '1.2.3', packageManagerOf(`${name}/1.0.0 node/v24.0.0`))['README.md'];
  expect(readMe).toContain(`\`${dev}\` serves`);
  expect(readMe).toContain(`\`${work}\` runs the deployed versions`);
});
