/** The whole output of a command reaches its reader, however slow. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { repository, startDev, temporaryProject, type Folder, type Ready, type Running } from './command.ts';
import { finished } from './in-process.ts';

const lines = 400;
const length = 10_000;
const tasks = `
import { task } from '@millrace/sdk';
export const talks = task({
  id: 'talks',
  run: async () => {
    for (let line = 0; line < ${lines}; line++) {
      console.log('x'.repeat(${length}));
      if (line % 20 === 0) await new Promise((done) => setTimeout(done, 50));
    }
  },
});
`;
const bin = join(repository, 'packages/millrace/bin/millrace.js');

let project: Folder;
let dev: Running & { ready: Ready };
let run: string;
beforeAll(async () => {
  project = await temporaryProject({ 'tasks/all.ts': tasks });
  dev = await startDev(project.path, ['--quiet']);
  const { exitCode, stdout } = await finished(['trigger', 'talks', '--wait'], { cwd: project.path });
  expect(exitCode).toBe(0);
  run = stdout.split('\n')[0] ?? '';
  // The last lines of a run are stored a moment after its end.
  const stored = async () =>
    (await finished(['logs', run, '--json'], { cwd: project.path })).stdout.split('\n').length;
  await eventually(stored, (count) => count === lines, 30_000);
}, 60_000);
afterAll(async () => {
  dev?.kill('SIGTERM');
  await dev?.exitCode;
  await project?.remove();
});

/** A command with unread output. */
const unread = (...args: string[]) =>
  spawn(process.execPath, [bin, ...args], { cwd: project.path, stdio: ['ignore', 'pipe', 'pipe'] });

/** The same through a shell, where `$MILLRACE` is the command. */
async function shell(script: string): Promise<{ code: unknown; output: string }> {
  const child = spawn('sh', ['-c', script], {
    cwd: project.path,
    env: { ...process.env, MILLRACE: `${process.execPath} ${bin}`, RUN: run },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (data: Buffer) => (output += String(data)));
  const [code] = await once(child, 'close');
  return { code, output };
}

test('a slow reader of several megabytes gets all of it, even with --json', async () => {
  for (const json of ['', '--json']) {
    const { output } = await shell(`$MILLRACE logs $RUN ${json} | (sleep 3; grep -c '${'x'.repeat(100)}')`);
    expect(output.trim()).toBe(String(lines));
  }
}, 60_000);

test('a reader that exits ends it, and a full disk is an error', async () => {
  const { code, output } = await shell('($MILLRACE logs $RUN; echo " code $?" >&2) 2>&1 | head -c 10');
  expect({ code, length: output.length }).toEqual({ code: 0, length: 10 });
  if (!existsSync('/dev/full')) return;
  const full = await shell('$MILLRACE logs $RUN 2>&1 >/dev/full; echo "code $?"');
  expect(full.output).toMatch(/^millrace: [^\n]*ENOSPC[^\n]*\ncode 1\n$/);
}, 60_000);

test('a reader that never reads is awaited until Ctrl-C', async () => {
  const child = unread('logs', run);
  await once(child.stdout, 'readable');
  await pause(3_000);
  expect(child.exitCode).toBeNull();
  child.kill('SIGINT');
  // `exit`: the pipe is closed only when it is read.
  expect(await once(child, 'exit')).toEqual([null, 'SIGINT']);
  child.stdout.destroy();
}, 60_000);
