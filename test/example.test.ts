import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { repository } from './cli/command.ts';

async function audit(data: string): Promise<{ code: number; output: string }> {
  const start = join(repository, 'examples/license-audit/start.ts');
  const child = spawn(process.execPath, [start, '--once', '--port', '0', '--data', data], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit') as Promise<[number]>]);
  return { code, output };
}

const groups = ({ output }: { output: string }) => output.match(/error_\w+/g)?.toSorted();

test('the license audit ends with its summary, and a second time on the same data', async () => {
  const data = await mkdtemp(join(tmpdir(), 'millrace-audit-'));
  try {
    const first = await audit(data);
    expect(first.output).toMatch(/^(\d{3,}) packages audited in .* passed, \d+ failed\.$/m);
    expect(first.output).toMatch(/^ +\d+ {2}MIT$/m);
    expect(first.output).toMatch(
      /error_\w+ +AbortTaskRunError: The package names a licence but ships no text of it/,
    );
    const [, retried] = /^(\d+) runs were retried/m.exec(first.output) ?? [];
    expect(Number(retried)).toBeGreaterThan(0);
    expect(first.code).toBe(0);

    const second = await audit(data);
    expect(second.code).toBe(0);
    expect(groups(second)).toEqual(groups(first));
  } finally {
    await rm(data, { recursive: true, force: true, maxRetries: 5 });
  }
}, 120_000);
