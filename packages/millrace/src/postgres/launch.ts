import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Binaries } from './binaries.ts';
import type { ServerUser } from './server-user.ts';
import { settingArguments, type Settings } from './settings.ts';
import { visibleFolders } from './visible-folders.ts';

/** One life of the server process. */
export interface Server {
  /** Resolves when it accepts connections; rejects with what it printed when it ended before. */
  ready: Promise<void>;
  /** Resolves with the last of what it printed, when it has ended. */
  ended: Promise<string>;
  /** Ends all sessions, writes a checkpoint and ends; without mercy for what that takes longer than 30 s. */
  shutDown(): void;
}

export interface Launch {
  binaries: Binaries;
  clusterFolder: string;
  socketFolder: string;
  user: ServerUser | null;
  settings: Settings;
  onLog: (line: string) => void;
}

// Between us and the server: it stops the server when its standard input ends, which the kernel sees to however we die.
// A number on its input asks for the same with that many tenths of a second of patience, against 0.7 s when we are gone.
// It waits for the server as its parent, so the process id it signals cannot have been given to another process, and it
// ignores signals meant for a group, as the server must outlive them until we have finished.
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

// One a connection attempt while it starts or stops, and a pool makes hundreds.
const refusal =
  /^FATAL: +the database system is (starting up|shutting down|not (yet )?accepting)|Consistent recovery state has not been/;

const PATIENCE_TENTHS = 300;

export function launch({ binaries, clusterFolder, socketFolder, user, settings, onLog }: Launch): Server {
  const visible = visibleFolders([clusterFolder, socketFolder], user);
  const [cluster = clusterFolder, socket = socketFolder] = visible.paths;
  const command = [
    join(binaries.folder, 'postgres'),
    '-D',
    cluster,
    '-c',
    `unix_socket_directories="${socket.replaceAll('"', '""')}"`,
    ...settingArguments(settings),
  ];
  const child = spawn('/bin/sh', ['-c', watchdog, 'millrace-postgres', ...command], {
    ...(user ? { uid: user.uid, gid: user.gid } : {}),
    cwd: '/',
    env: serverEnvironment(),
    // A session of its own: Ctrl-C in a terminal is for us, and we still need the database while we shut down.
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
  child.stdin?.on('error', () => {}); // It ended before it read our word: `ended` tells.

  const ended = new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    const resolveWithOutput = (): void => resolve(recent.join('\n').trim());
    child.on('close', resolveWithOutput);
    // `close` also waits for the pipes, which a session that outlives its server holds on to.
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

/** Nothing of ours: secrets in the environment are no business of the database, and PG… variables would change it. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' };
}
