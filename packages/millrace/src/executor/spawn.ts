import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { readLines, readOutput } from './lines.ts';
import type { FromExecutor, ToExecutor } from './messages.ts';

/** How a process ended. */
export interface Death {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The last lines that it wrote to its standard error. */
  readonly lastWords: readonly string[];
}

export interface ExecutorLink {
  readonly pid: number | undefined;
  readonly send: (message: ToExecutor) => void;
  /** Asks it to end; kills it when it has not within two seconds. */
  readonly end: () => void;
  /** Kills it and what it started. */
  readonly kill: () => void;
  readonly died: Promise<Death>;
}

export interface SpawnOptions {
  readonly projectDir: string;
  /** With what it is started: nothing that the environment's variables say. */
  readonly env: Readonly<Record<string, string>>;
  /** The user that it runs as. Default: that of this process. */
  readonly ids?: { readonly uid: number; readonly gid: number } | undefined;
  /** MiB of its heap; V8 decides without. */
  readonly memory?: number | undefined;
  readonly onMessage: (message: FromExecutor) => void;
  /** Output that belongs to no run. */
  readonly onOutput: (stream: 'stdout' | 'stderr', text: string) => void;
}

// Source files cannot be run where the installed Node is old; tests, which run from source, use the built file as well.
const entry = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../../dist/executor/main.js' : './main.js', import.meta.url),
);
const lastWordsKept = 30;
/** MiB. V8 would let the youngest part of the heap grow to 48, which doubles the memory of a busy process and buys it nothing measurable. */
const youngHeap = 4;
/** A process with a limit is promised the whole of it: V8 counts three such parts beside the old heap. */
const heapFlags = (memory: number | undefined): string[] => [
  `--max-semi-space-size=${youngHeap}`,
  ...(memory === undefined ? [] : [`--max-old-space-size=${memory - 3 * youngHeap}`]),
];

export function spawnExecutor({
  projectDir,
  env,
  ids,
  memory,
  onMessage,
  onOutput,
}: SpawnOptions): ExecutorLink {
  const flags = ['--enable-source-maps', ...heapFlags(memory)];
  const child = spawn(process.execPath, [...flags, entry], {
    cwd: projectDir,
    env: { ...env },
    ...ids,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    // A group of its own: Ctrl+C reaches the runner alone, which lets runs finish, and a kill takes grandchildren along.
    detached: true,
  });
  const pipe = child.stdio[3] as Duplex;
  pipe.on('error', () => undefined);
  readLines(pipe, (line) => onMessage(JSON.parse(line) as FromExecutor));
  let lastWords: string[] = [];
  readOutput(child.stdout, (text) => onOutput('stdout', text));
  readOutput(child.stderr, (text) => {
    lastWords = [...lastWords, ...text.split('\n').filter((line) => line.trim() !== '')].slice(
      -lastWordsKept,
    );
    onOutput('stderr', text);
  });
  const died = new Promise<Death>((resolve) => {
    child.once('error', (error) => resolve({ code: null, signal: null, lastWords: [error.message] }));
    child.once('exit', (code, signal) => {
      killGroup(child);
      const end = (): void => resolve({ code, signal, lastWords });
      // What it said last must have been read, unless something that left the group holds its output open.
      const timer = setTimeout(end, 500);
      child.once('close', () => {
        clearTimeout(timer);
        end();
      });
    });
  });
  return {
    pid: child.pid,
    send: (message) => {
      if (pipe.writable) pipe.write(`${JSON.stringify(message)}\n`);
    },
    end: () => {
      pipe.end();
      const timer = setTimeout(() => killGroup(child), 2_000);
      child.once('close', () => clearTimeout(timer));
    },
    kill: () => killGroup(child),
    died,
  };
}

function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The whole group is gone already, or this system has no groups.
    child.kill('SIGKILL');
  }
}
