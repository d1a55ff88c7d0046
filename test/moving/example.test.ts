import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { repository } from '../cli/command.ts';

test('the license audit for the published SDK ends with its summary', async () => {
  const data = await mkdtemp(join(tmpdir(), 'millrace-moved-audit-'));
  try {
    const start = join(repository, 'examples/license-audit-moved/start.ts');
    const child = spawn(process.execPath, [start, '--once', '--port', '0', '--data', data], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    const [, packages, passed, failed] =
      /^(\d{3,}) packages audited: (\d+) passed, (\d+) failed\.$/m.exec(output) ?? [];
    expect(Number(packages)).toBe(Number(passed) + Number(failed));
    expect(output).toMatch(/^ +\d+ {2}MIT$/m);
    expect(output).toMatch(/^ +\d+ {2}The package names a license but ships no text of it$/m);
    const [, report = ''] = /^Report: (.+)$/m.exec(output) ?? [];
    const lines = await readFile(join(repository, 'examples/license-audit-moved', report), 'utf8');
    expect(lines.trim().split('\n')).toHaveLength(Number(passed));
    expect(code).toBe(0);
  } finally {
    await rm(data, { recursive: true, force: true, maxRetries: 5 });
  }
}, 180_000);
