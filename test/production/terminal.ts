/** A terminal on a machine: each block keeps the folder, the exported variables and the umask of the previous one. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { inherited, watched, type Running } from '../cli/command.ts';
import { replaced, type Replacements } from './page.ts';

/** Without the variables that npm sets for the programs that it starts, such as these tests. */
const outside = Object.fromEntries(Object.entries(inherited).filter(([name]) => !name.startsWith('npm_')));

export interface Typed {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Terminal {
  /** Runs a block and waits for its end. Throws if one of its commands fails. Returns its stdout. */
  type(block: string): Promise<string>;
  /** Runs a block that may fail. */
  tries(block: string): Promise<Typed>;
  /** Runs a block whose last command keeps running. Signals go to all its processes, as those of a terminal do. */
  start(block: string): Running;
}

export interface Machine {
  /** The root folder of the machine. */
  readonly folder: string;
  /** Opens a terminal. */
  terminal(cwd?: string): Promise<Terminal>;
}

export function machine(
  folder: string,
  env: Readonly<Record<string, string>>,
  replacements: Replacements,
  started: Running[],
): Machine {
  return {
    folder,
    async terminal(cwd = folder) {
      const own = await mkdtemp(join(folder, 'terminal-'));
      const state = join(own, 'state');
      await writeFile(state, '');
      const options = { cwd, env: { ...outside, ...env } };
      const script = (block: string): string => `. ${state}\n${replaced(block, replacements)}`;
      const keep = `trap 'code=$?; { export -p; echo "umask $(umask)"; echo "cd \\"$PWD\\""; } > ${state}; exit $code' EXIT`;
      const tries = async (block: string): Promise<Typed> => {
        const child = spawn('sh', ['-e', '-c', `${keep}\n${script(block)}`], {
          ...options,
          stdio: ['ignore', 'pipe', 'pipe'],
        });
        const [stdout, stderr, [code]] = await Promise.all([
          textOf(child.stdout),
          textOf(child.stderr),
          once(child, 'close'),
        ]);
        return { exitCode: code as number | null, stdout, stderr };
      };
      return {
        tries,
        async type(block) {
          const { exitCode, stdout, stderr } = await tries(block);
          if (exitCode !== 0)
            throw new Error(`exit code ${exitCode} of\n${block}\nstdout:\n${stdout}\nstderr:\n${stderr}`);
          return stdout;
        },
        start(block) {
          const child = spawn('sh', ['-e', '-c', script(block)], {
            ...options,
            stdio: ['ignore', 'pipe', 'pipe'],
            detached: true,
          });
          const running = watched(child);
          const all: Running = {
            ...running,
            kill(signal) {
              try {
                process.kill(-running.pid, signal);
              } catch {
                // It has ended.
              }
            },
          };
          started.push(all);
          return all;
        },
      };
    },
  };
}
