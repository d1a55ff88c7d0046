import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, onTestFinished } from 'vitest';
import type { Ways } from '../../../../platform/src/ways.ts';
import { isRunning } from '../../../../platform/src/process-start.ts';
import { startPostgres, type PostgresConnection } from '../start.ts';

export const isRoot = process.getuid?.() === 0;

export const bothWays = ['unix', 'windows'] as const;

/**
 * A folder in the system's temporary one, removed after the test. In Windows mode the server's user enters it by its path, so root makes it
 * searchable by everyone.
 */
export function createTemporaryFolder(ways: Ways = 'unix'): string {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-test-'));
  if (ways === 'windows') chmodSync(folder, 0o711);
  onTestFinished(async () => {
    // A server whose owner the test killed may still be writing here for a moment.
    await until(() => !isRunning(serverPid(folder)), 5000);
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  });
  return folder;
}

let prepared: Promise<string> | undefined;

afterAll(async () => {
  if (prepared) rmSync(await prepared, { recursive: true, force: true });
  // Shared with test files that run later in the same process.
  prepared = undefined;
});

/** A data folder that has been started and stopped once: a copy of one created for the test file, to save an initdb. */
export async function createDataFolder(ways?: Ways): Promise<string> {
  prepared ??= prepare();
  const folder = createTemporaryFolder(ways);
  cpSync(await prepared, folder, { recursive: true });
  if (ways === 'windows') chmodSync(folder, 0o711);
  return folder;
}

async function prepare(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-test-'));
  const running = await startPostgres({ dataDir: folder });
  await running.stop();
  return folder;
}

export interface OwnerProcess {
  child: ChildProcess;
  connection?: PostgresConnection;
  refused?: { name: string; message: string };
}

/** Starts another Node process that owns, or tries to own, the folder. */
export async function startOwnerProcess(
  dataDir: string,
  user: { uid?: number; gid?: number } = {},
  ways: Ways = 'unix',
): Promise<OwnerProcess> {
  const child = spawnOwnerProcess(dataDir, user, ways);
  const [line] = (await once(createInterface(child.stdout!), 'line')) as [string];
  return { child, ...(JSON.parse(line) as Omit<OwnerProcess, 'child'>) };
}

export function spawnOwnerProcess(
  dataDir: string,
  user: { uid?: number; gid?: number } = {},
  ways: Ways = 'unix',
): ChildProcess {
  const script = fileURLToPath(new URL('owner-process.ts', import.meta.url));
  const child = spawn(process.execPath, [script, dataDir, ways], {
    ...user,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** The server's reply to a connection attempt of another process and user at a socket folder. */
export async function visit(
  host: string,
  username: string,
  user: { uid?: number; gid?: number },
): Promise<{ entered?: string; refused?: string }> {
  const script = fileURLToPath(new URL('visitor-process.ts', import.meta.url));
  const child = spawn(process.execPath, [script, host, username], {
    ...user,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return JSON.parse(line) as { entered?: string; refused?: string };
}

/** The process id in the folder's lock file; NaN when no server has it. */
export function serverPid(dataDir: string): number {
  const lock = join(dataDir, 'postgres', 'postmaster.pid');
  try {
    return Number.parseInt(readFileSync(lock, 'utf8'), 10);
  } catch {
    return Number.NaN;
  }
}

/** Kills a process with SIGKILL and waits until it has ended. */
export async function kill9(pid: number): Promise<void> {
  process.kill(pid, 'SIGKILL');
  await until(() => !isRunning(pid), 2000);
}

export async function until(condition: () => boolean | Promise<boolean>, withinMs: number): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!(await condition())) {
    if (Date.now() > deadline)
      throw new Error(`Timed out after ${withinMs / 1000} s waiting for ${condition}.`);
    await wait(10);
  }
}

/** The processes of the watchdog: the parent of the server, and its other children. */
export function watchdogOf(server: number): number[] {
  const watchdog = parentOf(server);
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const others = all.map(Number).filter((pid) => pid !== server && parentOf(pid) === watchdog);
  return [...others, watchdog];
}

function parentOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return Number.NaN; // It ended in the meantime.
  }
}

export const hasProc = existsSync('/proc/self/stat');
