import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { millrace, temporaryProject } from './command.ts';
import { giveDevData } from './first-data.ts';
import { finished } from './in-process.ts';

const tasks = `
import { task } from '@millrace/sdk';
const names = ['FROM_FILE', 'IN_BOTH', 'IN_MILLRACE', 'MILLRACE_LEASE_SECONDS'];
export const shows = task({ id: 'shows', run: async () => names.map((name) => process.env[name] ?? null) });
`;

test('dev passes the variables of .env to tasks, below those of its own environment and of Millrace, and follows changes', async () => {
  const project = await temporaryProject({
    'tasks/shows.ts': tasks,
    '.env':
      "FROM_FILE='a secret value'\nIN_BOTH=file\nIN_MILLRACE=file\nMILLRACE_LEASE_SECONDS=not a number\n",
  });
  await giveDevData(project.path);
  const dev = millrace(['dev', '--json', '--port', '0'], { cwd: project.path, env: { IN_BOTH: 'outside' } });
  try {
    await dev.line(/^\{"url"/);
    expect(await dev.line(/\.env/)).toMatch(
      / env     \.env sets FROM_FILE, IN_MILLRACE for tasks; not used: IN_BOTH \(set in the environment of dev\), MILLRACE_LEASE_SECONDS \(a Millrace setting\)$/,
    );
    const output = async (): Promise<unknown> => {
      const { stdout } = await finished(['trigger', 'shows', '--wait', '--json'], { cwd: project.path });
      return (JSON.parse(stdout.split('\n').at(-1) ?? '') as { output: unknown }).output;
    };
    expect(await output()).toEqual(['a secret value', 'outside', 'file', null]);
    await finished(['env', 'set', 'IN_MILLRACE=millrace', '--no-secret'], { cwd: project.path });
    await expect.poll(output, { timeout: 15_000 }).toEqual(['a secret value', 'outside', 'millrace', null]);

    const seen = dev.seen();
    await project.write('.env', 'FROM_FILE=other-value\nADDED=1\n');
    expect(await dev.line(/env +\.env sets/, seen)).toMatch(
      / env     \.env sets FROM_FILE, ADDED for tasks$/,
    );
    await expect.poll(output, { timeout: 15_000 }).toEqual(['other-value', 'outside', 'millrace', null]);
    await rm(join(project.path, '.env'));
    await dev.line(/\.env was removed/, seen);
    await expect.poll(output, { timeout: 15_000 }).toEqual([null, 'outside', 'millrace', null]);
    const all = [...dev.stdout, ...dev.stderr].join('\n');
    for (const value of ['a secret value', 'other-value', 'not a number']) expect(all).not.toContain(value);
  } finally {
    dev.kill('SIGTERM');
    await dev.exitCode;
    await project.remove();
  }
}, 120_000);

test('a .env that is created while dev runs applies as well', async () => {
  const project = await temporaryProject({ 'tasks/shows.ts': tasks });
  await giveDevData(project.path);
  const dev = millrace(['dev', '--json', '--port', '0'], { cwd: project.path });
  try {
    await dev.line(/^\{"url"/);
    expect(dev.stderr.join('\n')).not.toContain('.env');
    await project.write('.env', 'FROM_FILE=new\n');
    await dev.line(/\.env sets FROM_FILE for tasks$/);
  } finally {
    dev.kill('SIGTERM');
    await dev.exitCode;
    await project.remove();
  }
}, 120_000);
