/** The program of docs/coming-from/vercel-workflow.md before the move compiles. Only in the full suite, because its packages are large. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { isLong } from '../support/long.ts';
import { typeErrors } from '../site/code-blocks.ts';
import { readPage } from './program.ts';

describe.runIf(isLong)('vercel-workflow', () => {
  beforeAll(async () => {
    const install = join(import.meta.dirname, '../support/install-folder.ts');
    await promisify(execFile)(process.execPath, [install, 'test/coming-from/vercel-workflow']);
  }, 600_000);

  test('the program compiles', async () => {
    const { peer } = await readPage('vercel-workflow');
    expect(await typeErrors(peer, join(import.meta.dirname, 'vercel-workflow/node_modules'))).toEqual([]);
  }, 120_000);
});
