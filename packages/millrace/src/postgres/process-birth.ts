import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * When a process began, as text that no later process with the same id can share (process ids are reused, soonest in
 * containers, where every start may be process 7). Null when there is no such process, or it cannot be looked at.
 */
export function processBirth(pid: number): string | null {
  if (process.platform !== 'linux') {
    const { status, stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' });
    return status === 0 && stdout.trim() !== '' ? stdout.trim() : null;
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name, in brackets, may itself hold spaces and brackets; what follows the last one is fixed.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return null;
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot}/${fields[19]}`;
  } catch {
    return null;
  }
}

/** The id of the user that a process acts as. Null when there is no such process, or it cannot be looked at. */
export function processUser(pid: number): number | null {
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
  // One that has ended but was not collected by its parent still answers signals.
  return process.platform !== 'linux' || processBirth(pid) !== null;
}
