import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { repository } from '../cli/command.ts';

export const example = join(repository, 'examples/frameworks');

const { scripts } = JSON.parse(await readFile(join(example, 'package.json'), 'utf8')) as {
  scripts: Readonly<Record<string, string>>;
};

/** The commands of one of the example's scripts, in order. */
export const commandsOf = (script: string): string[] => (scripts[script] ?? '').split(' && ');

/** Variables of the environment in which the tests run do not reach the examples. */
const plain = {
  PATH: [join(repository, 'test/modules/node_modules/.bin'), process.env['PATH']].join(delimiter),
  HOME: process.env['HOME'] ?? '',
  NEXT_TELEMETRY_DISABLED: '1',
};

type Variables = Readonly<Record<string, string>>;

const spawned = (command: string, env: Variables) =>
  spawn('sh', ['-c', `exec ${command}`], {
    cwd: example,
    env: { ...plain, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });

/** Runs a command of the example to its end. */
export async function finished(command: string, env: Variables = {}): Promise<string> {
  const child = spawned(command, env);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [printed, complained, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (code !== 0) throw new Error(`${command} ended with ${code}:\n${printed}${complained}`);
  return printed;
}

export interface Started {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts a web server of the example, which prints its address. */
export async function started(command: string, env: Variables): Promise<Started> {
  const child = spawned(command, { PORT: '0', ...env });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const lines: string[] = [];
  const url = new Promise<string>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface(stream).on('line', (line) => {
        lines.push(line);
        const [address] = /http:\/\/\S+/.exec(line) ?? [];
        if (address !== undefined) resolve(address);
      });
    }
  });
  const died = ended.then(() => {
    throw new Error(`${command} ended:\n${lines.join('\n')}`);
  });
  return {
    url: await Promise.race([url, died]),
    async stop() {
      died.catch(() => undefined);
      child.kill('SIGKILL');
      await ended;
    },
  };
}
