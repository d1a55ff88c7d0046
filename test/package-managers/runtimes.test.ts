/** The SDK is a client in Bun and Deno: it triggers, follows, retrieves and waits. Tasks run in Node.js. */
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { inherited, repository, watched, type Running } from '../cli/command.ts';
import { startProject } from '../support/project.ts';
import { sharedServer, type SharedServer } from '../support/shared-server.ts';
import { installPrograms, platformProgram } from './programs.ts';

await installPrograms();
const runtimes = {
  Bun: [platformProgram('@oven', 'bin/bun')],
  Deno: [platformProgram('@deno', 'deno'), 'run', '--allow-all', '--no-config', '--node-modules-dir=manual'],
};

const task = `import { streams, task } from '@millrace/sdk';
export const count = task({
  id: 'count',
  run: async ({ to }: { to: number }) => {
    const numbers = Array.from({ length: to }, (_, index) => index + 1);
    await streams.append('numbers', numbers.join());
    return { sum: numbers.reduce((sum, number) => sum + number, 0) };
  },
});`;

const client = `import { runs, streams, tasks } from '@millrace/sdk';
const handle = await tasks.trigger('count', { to: 3 }, { tags: ['client'] });
const parts = [];
for await (const part of streams.read(handle, 'numbers')) if (parts.push(part) === 1) break;
let last;
for await (const run of runs.subscribeToRun(handle.id)) last = run;
const { output } = await runs.poll(handle);
const { status, tags } = await runs.retrieve(handle.id);
console.log(JSON.stringify({ parts, last: last.status, output, status, tags }));
`;

let server: SharedServer;
let folder: string;
beforeAll(async () => {
  server = await sharedServer();
  const ends: (() => Promise<void>)[] = [];
  folder = await startProject(
    server,
    { 'package.json': '{"type":"module"}', 'tasks/a.ts': task },
    [],
    (end) => void ends.push(end),
  );
  await writeFile(join(folder, 'client.mjs'), client);
  return async () => {
    for (const end of ends) await end();
  };
});

function started([program = '', ...own]: readonly string[], ...args: readonly string[]): Running {
  const env = { ...inherited, MILLRACE_API_URL: server.url, MILLRACE_SECRET_KEY: server.keys.prod };
  const options = { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] as ['ignore', 'pipe', 'pipe'] };
  const child = watched(spawn(program, [...own, ...args], options));
  onTestFinished(() => child.kill('SIGKILL'));
  return child;
}

test.each(Object.entries(runtimes))('%s runs a client to its end', async (_, command) => {
  const program = started(command, 'client.mjs');
  expect(await program.exitCode, program.stderr.join('\n')).toBe(0);
  expect(JSON.parse(program.stdout.join('\n'))).toEqual({
    parts: ['1,2,3'],
    last: 'COMPLETED',
    output: { sum: 6 },
    status: 'COMPLETED',
    tags: ['client'],
  });
});

test.each(Object.entries(runtimes))('%s cannot run the command', async (name, command) => {
  const program = started(command, join(repository, 'packages/millrace/bin/millrace.js'), 'work');
  expect(await program.exitCode).toBe(3);
  expect(program.stderr).toEqual([
    expect.stringMatching(
      new RegExp(`^millrace: this is ${name} \\d.*run only in Node\\.js.*Install Node\\.js 20\\.19 or later`),
    ) as string,
  ]);
});
