import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { repository } from './command.ts';
import { finished } from './in-process.ts';

const run = promisify(execFile);
const completion = (...args: string[]) => finished(['completion', ...args], { cwd: repository });

test('bash completes commands and topics of help with the printed script', async () => {
  const { exitCode, stdout, stderr } = await completion('bash');
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  const complete = async (...words: string[]): Promise<string[]> => {
    const script = `${stdout}\nCOMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _millrace; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout: found } = await run('bash', ['--norc', '-c', script, 'bash', 'millrace', ...words]);
    return found.trim().split('\n');
  };
  expect(await complete('work', '--env', 'pro')).toEqual(['prod']);
  expect(await complete('help', 'not-f')).toEqual(['not-found']);
  expect(await complete('help', 'runs-')).toContain('runs-are-paused');
  expect(await complete('help', 'deploym')).toEqual(['deployments']);
});

test('the script is also printed as JSON, and an unknown shell is rejected', async () => {
  const { stdout } = await completion('fish');
  const asJson = await completion('fish', '--json');
  expect(JSON.parse(asJson.stdout)).toEqual({ shell: 'fish', script: `${stdout}\n` });
  expect(await completion('tcsh')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('Allowed choices are bash, zsh, fish.') as string,
  });
});
