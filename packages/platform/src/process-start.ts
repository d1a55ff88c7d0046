import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { ownWays } from './ways.ts';

/**
 * The start time of a process, as text that no later process with the same id shares (process ids are reused, especially in
 * containers). Null if there is no such process, or it cannot be inspected, as on Windows.
 */
export function processStart(pid: number): string | null {
  if (ownWays === 'windows') return null;
  if (process.platform !== 'linux') {
    const { status, stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' });
    return status === 0 && stdout.trim() !== '' ? stdout.trim() : null;
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in brackets may contain spaces and brackets; the format after the last bracket is fixed.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return null;
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot}/${fields[19]}`;
  } catch {
    return null;
  }
}

/** The effective user id of a process. Null if there is no such process, or it cannot be inspected. */
export function processUser(pid: number): number | null {
  if (ownWays === 'windows') return null;
  if (process.platform !== 'linux') {
    const { status, stdout } = spawnSync('ps', ['-o', 'uid=', '-p', String(pid)], { encoding: 'utf8' });
    return status === 0 && /^\s*\d+\s*$/.test(stdout) ? Number(stdout) : null;
  }
  try {
    const [, user] = /^Uid:\s+\d+\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return user === undefined ? null : Number(user);
  } catch {
    return null;
  }
}

/** Whether a process of this id exists and has not ended. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it exists and belongs to someone else.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  // A zombie process still accepts signals.
  return process.platform !== 'linux' || processStart(pid) !== null;
}
