/**
 * The program of docs/coming-from/vercel-workflow.md runs in the Local World of Vercel Workflow, by the Vitest plugin that its
 * documentation describes. Only the full suite does this, because the packages are large.
 */
import { execFile } from 'node:child_process';
import { mkdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { inherited, repository } from '../cli/command.ts';
import { isLong } from '../support/long.ts';
import { typeErrors } from '../site/code-blocks.ts';
import { effectModules } from './effects.ts';
import { readPage } from './program.ts';
import { folderOf } from './run.ts';

const run = promisify(execFile);
const modules = join(import.meta.dirname, 'vercel-workflow/node_modules');

/** The routes of the page are called as a web application would call them. */
const callRoutes = {
  'vitest.config.ts': `
import { workflow } from '@workflow/vitest';
import { defineConfig } from 'vitest/config';
export default defineConfig({ plugins: [workflow()], test: { testTimeout: 60_000 } });
`,
  'order.test.ts': `
import { waitForHook } from '@workflow/vitest';
import { expect, test } from 'vitest';
import { approve, placeOrder } from './routes.ts';
test('an approved order is shipped', async () => {
  const run = await placeOrder('A-17');
  await waitForHook(run, { token: 'approval-A-17' });
  await approve('A-17');
  expect(await run.returnValue).toBe('parcel-A-17');
});
`,
};

describe.runIf(isLong)('vercel-workflow', () => {
  beforeAll(async () => {
    await run(process.execPath, [join(import.meta.dirname, 'install.ts'), 'vercel-workflow']);
  }, 600_000);

  test('an order is charged, approved and shipped', async () => {
    const { before } = await readPage('vercel-workflow');
    const effects = join(await folderOf({}), 'effects');
    const folder = await folderOf({
      ...effectModules(effects),
      ...before.files,
      ...callRoutes,
      'package.json': '{"type":"module"}',
    });
    const links = join(folder, 'node_modules');
    await mkdir(links);
    for (const name of ['workflow', '@workflow']) await symlink(join(modules, name), join(links, name));
    for (const name of ['vite', 'vitest'])
      await symlink(join(repository, 'node_modules', name), join(links, name));
    await run(process.execPath, [join(repository, 'node_modules/vitest/vitest.mjs'), 'run'], {
      cwd: folder,
      env: inherited,
    });
    expect((await readFile(effects, 'utf8')).trim().split('\n')).toEqual([
      'declined A-17',
      'charged A-17',
      'shipped A-17',
    ]);
  }, 180_000);

  test('the program compiles', async () => {
    const { peer } = await readPage('vercel-workflow');
    expect(await typeErrors(peer, modules)).toEqual([]);
  }, 120_000);
});
