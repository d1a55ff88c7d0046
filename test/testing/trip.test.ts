import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { repository } from '../cli/command.ts';

test('the tests of the example trip pass, as a user runs them', async () => {
  const environment = Object.entries(process.env).filter(
    ([name]) => !/^(?:MILLRACE_|DATABASE_|NODE_OPTIONS$|VITEST|FORCE_COLOR$)/.test(name),
  );
  const output = await new Promise<string>((resolve) => {
    execFile(
      process.execPath,
      [join(repository, 'node_modules/.bin/vitest'), 'run', '--testTimeout', '60000'],
      {
        cwd: join(repository, 'examples/trip'),
        env: { ...Object.fromEntries(environment), NO_COLOR: '1' },
      },
      (_, stdout, stderr) => resolve(stdout + stderr),
    );
  });
  expect(output).toMatch(/Tests +3 passed/);
}, 120_000);
