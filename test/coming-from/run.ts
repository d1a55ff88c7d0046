/** Runs a program of docs/coming-from, in its own process, until it has had its effects. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { inherited, watched, type Running } from '../cli/command.ts';
import { eventually } from '../support/eventually.ts';
import { startProject } from '../support/project.ts';
import type { SharedServer } from '../support/shared-server.ts';
import { effectModules } from './effects.ts';
import type { Program } from './program.ts';

/** The effects of a program in order, and the lines that it printed. */
export interface Outcome {
  readonly effects: readonly string[];
  readonly printed: readonly string[];
}

/** The address of the database in the programs of the pages. */
const address = 'postgres://127.0.0.1/shop';

/** A folder with these files and packages, until the end of the test. */
async function folderOf(files: Readonly<Record<string, string>>, modules?: string): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'millrace-coming-from-')));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }
  if (modules !== undefined) await symlink(modules, join(folder, 'node_modules'));
  return folder;
}

/** Runs the program of another system on this database, with the packages in `modules`: to its end, or to this effect of a worker. */
export async function runBefore(
  { files, start }: Program,
  modules: string,
  url: string,
  last?: string,
): Promise<Outcome> {
  const effects = join(await folderOf({}), 'effects');
  const onDatabase = Object.entries(files).map(([file, text]) => [file, text.replaceAll(address, url)]);
  const folder = await folderOf(
    {
      ...(Object.fromEntries(onDatabase) as Record<string, string>),
      ...effectModules(effects),
      'package.json': '{"type":"module"}',
    },
    modules,
  );
  return outcome(run(folder, start), effects, last);
}

/** Deploys the tasks of our program to a runner, and runs the program as a client. */
export async function runAfter(server: SharedServer, { files, start }: Program): Promise<Outcome> {
  const effects = join(await folderOf({}), 'effects');
  const folder = await startProject(server, {
    ...files,
    ...effectModules(effects),
    'package.json': '{"type":"module"}',
  });
  const env = { MILLRACE_API_URL: server.url, MILLRACE_SECRET_KEY: server.keys.prod };
  return outcome(run(folder, start, env), effects);
}

function run(folder: string, start: string, env: Readonly<Record<string, string>> = {}): Running {
  const options = { cwd: folder, env: { ...inherited, ...env } };
  const child = watched(spawn(process.execPath, [start], { ...options, stdio: ['ignore', 'pipe', 'pipe'] }));
  onTestFinished(() => child.kill('SIGKILL'));
  return child;
}

/** The outcome of a program that ends, or of a worker after its last effect. */
async function outcome(program: Running, file: string, last?: string): Promise<Outcome> {
  const effects = async (): Promise<string[]> =>
    existsSync(file) ? (await readFile(file, 'utf8')).trim().split('\n') : [];
  const ended = program.exitCode.then((code) => {
    if (code !== 0 || last !== undefined)
      throw new Error([`exit code ${code}`, ...program.stdout, ...program.stderr].join('\n'));
  });
  if (last === undefined) await ended;
  else await Promise.race([eventually(effects, (lines) => lines.includes(last), 40_000), ended]);
  return { effects: await effects(), printed: program.stdout };
}
