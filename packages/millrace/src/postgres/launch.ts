import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Binaries } from './binaries.ts';
import type { ServerUser } from './server-user.ts';
import { settingArguments, type Settings } from './settings.ts';
import { folderDescriptors } from './folder-descriptors.ts';
import { archiveSettings } from './wal-archive.ts';

/** A server process. */
export interface Server {
  /** Resolves when it accepts connections; rejects with its output if it ended before. */
  ready: Promise<void>;
  /** Resolves with the end of its output when it has ended. */
  ended: Promise<string>;
  /** Ends all sessions, writes a checkpoint and ends; killed after 30 s. */
  shutDown(): void;
}

export interface Launch {
  binaries: Binaries;
  clusterFolder: string;
  socketFolder: string;
  user: ServerUser | null;
  settings: Settings;
  /** Where WAL is archived; undefined if it is not. */
  walFolder?: string | undefined;
  onLog: (line: string) => void;
}

// The watchdog: a shell that is the server's parent and stops the server when its standard input ends, however this process dies.
// A number on its input stops the server too, with that many tenths of a second to finish (0.7 s when this process died).
// As the parent it can signal the process id safely. It ignores signals to the process group, because the server must keep
// running until this process has finished.
const watchdog = `
trap '' INT TERM HUP
exec 9<&0 </dev/null
"$@" 9<&- &
server=$!
(
  read -r tenths <&9 || tenths=7
  kill -INT "$server"
  while [ "$tenths" -gt 0 ]; do sleep 0.1; tenths=$((tenths - 1)); done
  kill -QUIT "$server"
) >/dev/null 2>&1 &
watch=$!
exec 9<&-
wait "$server"
status=$?
kill -KILL "$watch"
exit "$status"
`;

// Logged for each connection attempt while it starts or stops, which can be hundreds.
const refusal =
  /^FATAL: +the database system is (starting up|shutting down|not (yet )?accepting)|Consistent recovery state has not been/;

const PATIENCE_TENTHS = 300;

export function launch(options: Launch): Server {
  const { binaries, clusterFolder, socketFolder, user, settings, walFolder, onLog } = options;
  const archive = walFolder === undefined ? [] : [walFolder];
  const visible = folderDescriptors([clusterFolder, socketFolder, ...archive], user);
  const [cluster = clusterFolder, socket = socketFolder, wal] = visible.paths;
  const command = [
    join(binaries.folder, 'postgres'),
    '-D',
    cluster,
    '-c',
    `unix_socket_directories="${socket.replaceAll('"', '""')}"`,
    ...settingArguments({ ...settings, ...(wal !== undefined && archiveSettings(wal)) }),
  ];
  const child = spawn('/bin/sh', ['-c', watchdog, 'millrace-postgres', ...command], {
    ...(user ? { uid: user.uid, gid: user.gid } : {}),
    cwd: '/',
    env: serverEnvironment(),
    // A separate session, so that Ctrl-C does not stop the database before this process has shut down.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', ...visible.descriptors],
  });
  visible.close();

  const recent: string[] = [];
  const reportedReady = new Promise<void>((resolve) => {
    readLines(child, (line) => {
      if (refusal.test(line)) return;
      recent.push(line);
      if (recent.length > 20) recent.shift();
      onLog(line);
      if (line.endsWith('database system is ready to accept connections')) resolve();
    });
  });
  child.stdin?.on('error', () => {}); // It ended before reading: `ended` reports that.

  const ended = new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    const resolveWithOutput = (): void => resolve(recent.join('\n').trim());
    child.on('close', resolveWithOutput);
    // `close` would also wait for the pipes, which a remaining session may hold.
    child.on('exit', () => setTimeout(resolveWithOutput, 200));
  });
  return {
    ready: Promise.race([reportedReady, ended.then((output) => Promise.reject(new Error(output)))]),
    ended,
    shutDown: () => child.stdin?.write(`${PATIENCE_TENTHS}\n`),
  };
}

function readLines({ stdout, stderr }: ChildProcess, onLine: (line: string) => void): void {
  for (const stream of [stdout, stderr]) if (stream) createInterface(stream).on('line', onLine);
}

/** A minimal environment: the server needs no secrets, and PG… variables would affect it. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' };
}
