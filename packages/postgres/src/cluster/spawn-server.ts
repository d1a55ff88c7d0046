import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { builtFile, programFile } from '@millrace/platform';
import type { Binaries } from './binaries.ts';
import { folderDescriptors } from './folder-descriptors.ts';
import { portSettings, socketSettings, type Listening } from './listening.ts';
import { serverEnvironment } from './server-environment.ts';
import type { ServerUser } from './server-user.ts';
import { settingArguments, type Settings } from './settings.ts';
import { archiveSettings } from './wal-archive.ts';

export interface ServerCommand {
  binaries: Binaries;
  clusterFolder: string;
  listening: Listening;
  user: ServerUser | null;
  settings: Settings;
  /** The archive folder for WAL; undefined if it is not archived. */
  walFolder?: string | undefined;
}

// The watchdog: a shell that is the server's parent and stops the server when its standard input ends, however this process dies. A number
// on its input also stops the server, with that many tenths of a second to finish (0.7 s if this process died). As the parent it can signal
// the process id safely. It ignores signals to the process group, because the server must keep running until this process has finished.
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

const nodeWatchdog = builtFile('postgres/watchdog.js');

/** Starts the server under its watchdog: a shell, or a Node.js process on systems without sockets, which have no shell either. */
export function spawnServer(command: ServerCommand): ChildProcess {
  const { listening } = command;
  return listening.via === 'socket'
    ? spawnOnSocket(command, listening.folder)
    : spawnOnPort(command, listening.port);
}

function spawnOnSocket(
  { binaries, clusterFolder, user, settings, walFolder }: ServerCommand,
  socketFolder: string,
): ChildProcess {
  const archive = walFolder === undefined ? [] : [walFolder];
  const visible = folderDescriptors([clusterFolder, socketFolder, ...archive], user);
  const [cluster = clusterFolder, socket = socketFolder, wal] = visible.paths;
  const all = { ...settings, ...(wal !== undefined && archiveSettings(wal)) };
  const command = [
    programFile(binaries.folder, 'postgres'),
    '-D',
    cluster,
    ...settingArguments(all, socketSettings(socket)),
  ];
  const child = spawn('/bin/sh', ['-c', watchdog, 'millrace-postgres', ...command], {
    ...spawnOptions(user),
    stdio: ['pipe', 'pipe', 'pipe', ...visible.descriptors],
  });
  visible.close();
  return child;
}

function spawnOnPort({ binaries, clusterFolder, user, settings }: ServerCommand, port: number): ChildProcess {
  const command = [
    programFile(binaries.folder, 'postgres'),
    '-D',
    clusterFolder,
    ...settingArguments(settings, portSettings(port)),
  ];
  const pgCtl = programFile(binaries.folder, 'pg_ctl');
  return spawn(process.execPath, [nodeWatchdog, pgCtl, clusterFolder, ...command], spawnOptions(user));
}

const spawnOptions = (user: ServerUser | null): SpawnOptions => ({
  ...(user ? { uid: user.uid, gid: user.gid } : {}),
  cwd: '/',
  env: serverEnvironment(),
  // A separate session, so that Ctrl-C does not stop the database before this process has shut down.
  detached: true,
  windowsHide: true,
});
