import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { readFile, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { isRunning, killTree } from '@millrace/platform';
import { answersAsPostgres } from './answers.ts';
import { EmbeddedPostgresError } from './errors.ts';
import { SOCKET_PORT } from './listening.ts';

/** Milliseconds within which a killed process must end. */
const KILL_MS = 2_000;

/**
 * Cleans up after an earlier server of this folder; the caller must own the folder. Stops a server that still runs (its watchdog was killed),
 * and ends remaining processes of a killed one, because a new server cannot start next to them. Removes lock files, because PostgreSQL trusts
 * their process id even if another process has it now. `socketFolder` is undefined for a server on a port.
 */
export async function cleanUpServer(
  clusterFolder: string,
  socketFolder: string | undefined,
  onLog: (line: string) => void,
): Promise<void> {
  if (socketFolder === undefined) return cleanUpAtPort(clusterFolder, onLog);
  const folder = await realpath(clusterFolder);
  const lock = join(clusterFolder, 'postmaster.pid');
  const pid = await pidIn(lock);
  if (pid !== null && servesFolder(pid, folder)) {
    onLog(leftRunning(pid, clusterFolder));
    await stop(pid, clusterFolder);
  }
  for (const straggler of processesIn(folder)) signal(straggler, 'SIGKILL', clusterFolder);
  await rm(lock, { force: true });
  await rm(join(socketFolder, `.s.PGSQL.${SOCKET_PORT}.lock`), { force: true });
  await rm(join(socketFolder, `.s.PGSQL.${SOCKET_PORT}`), { force: true });
}

const leftRunning = (pid: number, clusterFolder: string): string =>
  `PostgreSQL process ${pid} was left running in ${clusterFolder}: stopping it`;

/**
 * The same for a server on a port, whose processes can only be found through this file and the port. It is killed with its sessions, and the
 * next start recovers everything that was acknowledged. On Windows PostgreSQL itself refuses to start next to sessions of a killed server.
 */
async function cleanUpAtPort(clusterFolder: string, onLog: (line: string) => void): Promise<void> {
  const lock = join(clusterFolder, 'postmaster.pid');
  const text = await readFile(lock, 'utf8').catch(() => '');
  const [pid = 0, , , port = 0] = text.split('\n').map(Number);
  if (pid > 0 && isRunning(pid) && (await answersAsPostgres(port))) {
    onLog(leftRunning(pid, clusterFolder));
    killTree(pid);
    const deadline = Date.now() + KILL_MS;
    while (isRunning(pid) && Date.now() < deadline) await wait(20);
    if (isRunning(pid)) throw doesNotStop(pid, clusterFolder);
  }
  await rm(lock, { force: true });
}

async function pidIn(lock: string): Promise<number | null> {
  const text = await readFile(lock, 'utf8').catch(() => '');
  const pid = Number.parseInt(text, 10);
  return pid > 0 ? pid : null;
}

async function stop(pid: number, clusterFolder: string): Promise<void> {
  const steps = [
    ['SIGINT', 3000],
    ['SIGQUIT', 6000],
    ['SIGKILL', KILL_MS],
  ] as const;
  for (const [name, patience] of steps) {
    signal(pid, name, clusterFolder);
    const deadline = Date.now() + patience;
    while (Date.now() < deadline) {
      if (!isRunning(pid)) return;
      await wait(20);
    }
  }
  throw doesNotStop(pid, clusterFolder);
}

const doesNotStop = (pid: number, clusterFolder: string): EmbeddedPostgresError =>
  new EmbeddedPostgresError(
    'start_failed',
    `PostgreSQL process ${pid} was left running in ${clusterFolder} and does not stop. Stop it manually and start again.`,
  );

function signal(pid: number, name: NodeJS.Signals, clusterFolder: string): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return;
    throw new EmbeddedPostgresError(
      'permission_denied',
      `PostgreSQL process ${pid} was left running in ${clusterFolder} by another user. Stop it as that user and start again.`,
    );
  }
}

/** Whether a process is a PostgreSQL server of this folder rather than a later process with the same id. */
function servesFolder(pid: number, folder: string): boolean {
  if (!isRunning(pid)) return false;
  if (process.platform === 'linux') return isServerIn(pid, folder);
  try {
    const command = execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
    return command.includes('postgres') && command.includes(folder);
  } catch {
    return false;
  }
}

/** All PostgreSQL processes whose working directory is this folder (Linux only). */
function processesIn(folder: string): number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => isServerIn(pid, folder));
}

function isServerIn(pid: number, folder: string): boolean {
  try {
    if (readlinkSync(`/proc/${pid}/cwd`) !== folder) return false;
    // Matches the command of the main process and the titles of the others, but not a shell in that folder.
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0] ?? '';
    return command.startsWith('postgres: ') || command.endsWith('/postgres');
  } catch {
    return false;
  }
}
