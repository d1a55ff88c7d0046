import { spawn } from 'node:child_process';

/**
 * Kills a process and its child processes. On Unix these are the processes of its group if it leads one; otherwise only the process is killed.
 * Windows has no groups: `taskkill` follows the tree of parents, as long as the process itself lives.
 */
export function killTree(pid: number, system: NodeJS.Platform = process.platform): void {
  if (system === 'win32') runTaskkill(pid);
  else if (!kill(-pid)) kill(pid);
}

function runTaskkill(pid: number): void {
  const options = { stdio: 'ignore', windowsHide: true } as const;
  spawn('taskkill', ['/T', '/F', '/PID', String(pid)], options).once('error', () => kill(pid));
}

function kill(target: number): boolean {
  try {
    return process.kill(target, 'SIGKILL');
  } catch {
    return false;
  }
}
