import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { repository } from '../cli/command.ts';

/** Tests with the kit, in separate processes: it changes `Date` and variables, and other test files share a process. */
test.each([
  ['packages/testing', 6],
  ['examples/trip', 1],
])('the tests of %s pass', { timeout: 240_000 }, async (folder, files) => {
  const environment = Object.entries(process.env).filter(
    ([name]) => !/^(?:MILLRACE_|DATABASE_|NODE_OPTIONS$|VITEST|FORCE_COLOR$)/.test(name),
  );
  const { output, code } = await new Promise<{ output: string; code: unknown }>((resolve) => {
    execFile(
      process.execPath,
      [join(repository, 'node_modules/.bin/vitest'), 'run', '--testTimeout', '60000'],
      { cwd: join(repository, folder), env: { ...Object.fromEntries(environment), NO_COLOR: '1' } },
      (error, stdout, stderr) => resolve({ output: stdout + stderr, code: error?.code ?? 0 }),
    );
  });
  expect(output).toMatch(new RegExp(`Test Files +${files} passed`));
  expect(code).toBe(0);
});
