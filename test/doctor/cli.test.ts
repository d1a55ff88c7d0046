import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { finished } from '../cli/in-process.ts';

test('doctor prints one line for each check, then the findings, and exits with 1', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'millrace-doctor-'));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  const env = {
    DATABASE_URL: 'postgresql://millrace:s3cret-pass@127.0.0.1:9/millrace',
    MILLRACE_PORT: '0',
    XDG_CONFIG_HOME: cwd,
  };
  const [table, asJson, alone] = await Promise.all([
    finished(['doctor'], { cwd, env }),
    finished(['doctor', '--json'], { cwd, env }),
    finished(['doctor', '--json'], { cwd, env: { MILLRACE_PORT: '0', XDG_CONFIG_HOME: cwd } }),
  ]);
  expect(table.exitCode, table.stderr).toBe(1);
  expect(table.stdout).toMatch(/^ok +machine +node-version$/m);
  expect(table.stdout).toMatch(/^error +database +database-answers +1 finding$/m);
  expect(table.stdout).toMatch(/^error {2}database-answers {2}.*nothing is listening there/m);
  expect(table.stdout).toMatch(/^ {2}fix {3}/m);
  expect(JSON.parse(asJson.stdout)).toMatchObject({
    errors: 1,
    checks: expect.arrayContaining([
      expect.objectContaining({ group: 'database', name: 'database-answers', state: 'error' }),
    ]) as unknown[],
  });
  expect(table.stdout + asJson.stdout).not.toContain('s3cret-pass');
  // This machine may have a full disk.
  expect([0, 1]).toContain(alone.exitCode);
  expect(JSON.parse(alone.stdout)).toHaveProperty('checks');
});
