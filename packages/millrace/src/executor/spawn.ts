import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { builtFile } from '../platform/built-file.ts';
import { killTree } from '../platform/kill-tree.ts';
import { ownWays } from '../platform/ways.ts';
import { readLines, readOutput } from './read-lines.ts';
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
  /** Its working folder. */
  readonly projectDir: string;
  /** The module with the SDK, absolute. Default: the SDK of the project. */
  readonly sdk?: string | undefined;
  /** The variables at its start. The environment's variables are not among them. */
  readonly env: Readonly<Record<string, string>>;
  /** The user that it runs as. Default: that of this process. */
  readonly ids?: { readonly uid: number; readonly gid: number } | undefined;
  /** MiB of its heap; V8 decides without. */
  readonly memory?: number | undefined;
  readonly onMessage: (message: FromExecutor) => void;
  /** Output that belongs to no run. */
  readonly onOutput: (stream: 'stdout' | 'stderr', text: string) => void;
}

const entry = builtFile('executor/main.js');
const lastWordsKept = 30;
/** MiB. V8's default of 48 for the young generation doubles the memory of a busy process without a measurable gain. */
const youngHeap = 4;
/** V8 counts three semi-spaces beside the old generation, so the configured limit is available in full. */
const heapFlags = (memory: number | undefined): string[] => [
  `--max-semi-space-size=${youngHeap}`,
  ...(memory === undefined ? [] : [`--max-old-space-size=${memory - 3 * youngHeap}`]),
];

export function spawnExecutor({
  projectDir,
  sdk,
  env,
  ids,
  memory,
  onMessage,
  onOutput,
}: SpawnOptions): ExecutorLink {
  const flags = ['--enable-source-maps', ...heapFlags(memory)];
  const child = spawn(process.execPath, [...flags, entry, ...(sdk === undefined ? [] : [sdk])], {
    cwd: projectDir,
    env: { ...env },
    ...ids,
    // On Windows a pipe that is not overlapped is not read and written at the same time; elsewhere both are the same.
    stdio: ['ignore', 'pipe', 'pipe', 'overlapped'],
    windowsHide: true,
    // A separate process group: Ctrl-C reaches only the runner, which lets runs finish, and a kill includes grandchildren.
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
      // Windows has no groups, and the id of an ended process may be that of another by now.
      if (ownWays === 'unix') killGroup(child);
      const end = (): void => resolve({ code, signal, lastWords });
      // Read its last output first, unless a process outside of the group keeps the pipe open.
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
  if (ownWays === 'windows' && child.pid !== undefined) return killTree(child.pid);
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The group has ended already.
    child.kill('SIGKILL');
  }
}
