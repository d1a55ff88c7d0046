import { randomBytes } from 'node:crypto';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { builtFile, killTree, ownWays } from '@millrace/platform';
import type { FromExecutor, ToExecutor } from './messages.ts';
import { readLines, readOutput } from './read-lines.ts';
import { maxLineBytes, pipeFaults, readMessage } from './read-message.ts';
import { pipeDescriptor } from './to-runner.ts';

/** How a process ended. */
export interface Death {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The last lines that it wrote to its standard error. */
  readonly lastLines: readonly string[];
}

export interface ExecutorLink {
  readonly pid: number | undefined;
  /** The prefix of each line of the process: the first message contains it. */
  readonly token: string;
  readonly send: (message: ToExecutor) => void;
  /** Stops it; kills it if it has not ended within two seconds. */
  readonly end: () => void;
  /** Kills it and its child processes. */
  readonly kill: () => void;
  readonly died: Promise<Death>;
}

export interface SpawnOptions {
  /** Its working folder. */
  readonly projectDir: string;
  /** The module with the SDK, absolute. Default: the SDK of the project. */
  readonly sdk?: string | undefined;
  /** The variables at its start, which do not include the environment's variables. */
  readonly env: Readonly<Record<string, string>>;
  /** The user that runs it. Default: that of this process. */
  readonly ids?: { readonly uid: number; readonly gid: number } | undefined;
  /** Heap size in MiB. Default: chosen by V8. */
  readonly memory?: number | undefined;
  readonly onMessage: (message: FromExecutor) => void;
  /** Called when the process violates the protocol of its pipe, with the reason. Its messages are ignored afterwards, and it must be ended. */
  readonly onFault: (why: string) => void;
  /** Output that does not belong to any run. */
  readonly onOutput: (stream: 'stdout' | 'stderr', text: string) => void;
}

const entry = builtFile('executor/main.js');
const maxLastLines = 30;
/** Milliseconds from the end of the pipe to the end of a process that exits. */
const exitMs = 1_000;
/** MiB. V8's default of 48 for the young generation doubles the memory of a busy process without a measurable gain. */
const youngHeap = 4;
/** V8 counts three semi-spaces in addition to the old generation, so that the configured limit is fully available. */
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
  onFault,
  onOutput,
}: SpawnOptions): ExecutorLink {
  const flags = ['--enable-source-maps', ...heapFlags(memory)];
  const child = spawn(process.execPath, [...flags, entry, ...(sdk === undefined ? [] : [sdk])], {
    cwd: projectDir,
    env: { ...env },
    ...ids,
    // On Windows a pipe that is not overlapped cannot be read and written at the same time; elsewhere there is no difference.
    stdio: ['ignore', 'pipe', 'pipe', 'overlapped'],
    windowsHide: true,
    // A separate process group: Ctrl-C reaches only the runner, which lets runs finish, and a kill includes grandchildren.
    detached: true,
  });
  // Without free file descriptors there are no streams, and `error` follows.
  const pipe = (child.stdio as readonly unknown[] | undefined)?.[pipeDescriptor] as Duplex | undefined;
  const token = randomBytes(18).toString('base64url');
  let isEnding = false;
  const stopReading = pipe && readFrom(pipe, Buffer.from(token), onMessage, (why) => fault(why));
  const fault = (why: string): void => {
    if (isEnding) return;
    isEnding = true;
    stopReading?.();
    onFault(why);
  };
  let lastLines: string[] = [];
  readOutput(child.stdout, (text) => onOutput('stdout', text));
  readOutput(child.stderr, (text) => {
    lastLines = [...lastLines, ...text.split('\n').filter((line) => line.trim() !== '')].slice(-maxLastLines);
    onOutput('stderr', text);
  });
  const died = new Promise<Death>((resolve) => {
    child.once('error', (error) => resolve({ code: null, signal: null, lastLines: [error.message] }));
    // The end of the pipe means the end of the process, unless the process keeps running.
    pipe?.once('close', () => {
      const timer = setTimeout(() => fault(pipeFaults.closed), exitMs);
      child.once('exit', () => clearTimeout(timer));
    });
    child.once('exit', (code, signal) => {
      isEnding = true;
      // Windows has no process groups, and the id of an ended process may have been reused.
      if (ownWays === 'unix') killGroup(child);
      const end = (): void => resolve({ code, signal, lastLines });
      // Its last output is read first, unless a process outside the group keeps the pipe open.
      const timer = setTimeout(end, 500);
      child.once('close', () => {
        clearTimeout(timer);
        end();
      });
    });
  });
  return {
    pid: child.pid,
    token,
    send: (message) => {
      if (pipe?.writable) pipe.write(`${JSON.stringify(message)}\n`);
    },
    end: () => {
      isEnding = true;
      pipe?.end();
      const timer = setTimeout(() => killGroup(child), 2_000);
      child.once('close', () => clearTimeout(timer));
    },
    kill: () => killGroup(child),
    died,
  };
}

/** Reads the messages of a process. Returns a function that stops it. */
function readFrom(
  pipe: Duplex,
  token: Buffer,
  onMessage: (message: FromExecutor) => void,
  onFault: (why: string) => void,
): () => void {
  pipe.on('error', () => undefined);
  return readLines(pipe, {
    maxBytes: maxLineBytes,
    onTooLong: () => onFault(pipeFaults.tooLong),
    onLine: (line) => {
      const message = readMessage(line, token);
      if (typeof message === 'string') onFault(message);
      else onMessage(message);
    },
  });
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
