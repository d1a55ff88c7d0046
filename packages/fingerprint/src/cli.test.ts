import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fingerprint } from './index.ts';

const command = join(import.meta.dirname, 'cli.ts');
const node = join(import.meta.dirname, '../../../node_modules/.bin/node');

function fingerprints(input: string): { stdout: string; stderr: string; status: number | null } {
  return spawnSync(node, [command], { input, encoding: 'utf8' });
}

describe('the fingerprint command', () => {
  test('prints one fingerprint per line, in the order of the input', () => {
    const errors = [
      { name: 'Error', message: 'a', stack: '' },
      { name: 'Error', message: 'b', stack: '' },
    ];
    const { stdout, status } = fingerprints(errors.map((error) => JSON.stringify(error)).join('\n'));
    expect(stdout).toBe(errors.map((error) => `${fingerprint(error).id}\n`).join(''));
    expect(status).toBe(0);
  });

  test('prints an empty line for a line that is not an error, reports it and fails', () => {
    const { stdout, stderr, status } = fingerprints('{"message":"a"}\n{oops\n[]\n{"message":"b"}\n');
    expect(stdout.split('\n').map(Boolean)).toEqual([true, false, false, true, false]);
    expect(stderr).toMatch(/^line 2: /m);
    expect(stderr).toMatch(/^line 3: expected a JSON object/m);
    expect(status).toBe(1);
  });

  test('reads a message of ten megabytes with NUL and unpaired surrogates', () => {
    const { stdout, status } = fingerprints(
      `${JSON.stringify({ name: 7, message: 'x\u0000\ud800'.repeat(2_000_000), stack: null })}\n`,
    );
    expect(stdout).toMatch(/^m2-[0-9a-f]{32}\n$/);
    expect(status).toBe(0);
  });
});
