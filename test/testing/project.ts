import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { repository } from '../cli/command.ts';

export interface Ended {
  readonly code: number;
  readonly output: string;
}

export interface TestedProject {
  readonly dir: string;
  /** Runs a program of node_modules, or Node for `node`. */
  run(program: string, args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended>;
}

/** A project with these files and the packages of the repository, and its own host. Removed when the test ends. */
export async function testedProject(files: Readonly<Record<string, string>>): Promise<TestedProject> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'millrace-tested-')));
  onTestFinished(() => rm(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 }));
  await symlink(join(repository, 'test/modules/node_modules'), join(dir, 'node_modules'));
  const all = { 'package.json': '{ "type": "module", "private": true }', ...files };
  for (const [name, text] of Object.entries(all)) {
    await mkdir(dirname(join(dir, name)), { recursive: true });
    await writeFile(join(dir, name), text);
  }
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(?:MILLRACE_|DATABASE_|NODE_OPTIONS$|VITEST|JEST|FORCE_COLOR$)/.test(name),
    ),
  );
  return {
    dir,
    run: (program, args, env = {}) =>
      new Promise((resolve) => {
        const command =
          program === 'node'
            ? [...args]
            : [join(repository, 'test/modules/node_modules/.bin', program), ...args];
        execFile(
          process.execPath,
          command,
          { cwd: dir, env: { ...inherited, NO_COLOR: '1', MILLRACE_TEST_IDLE_MS: '500', ...env } },
          (error, stdout, stderr) =>
            resolve({ code: error ? Number(error.code ?? 1) : 0, output: stdout + stderr }),
        );
      }),
  };
}

/** The code blocks of a page that follow a file name, by that name. */
export async function filesOf(page: string): Promise<Record<string, string>> {
  const text = await readFile(join(repository, page), 'utf8');
  const found = [...text.matchAll(/`([\w/.-]+\.(?:ts|js))`(?: *):\n\n```(?:ts|js)\n([\s\S]*?)```/g)];
  return Object.fromEntries(found.map(([, name = '', code = '']) => [name, code]));
}
