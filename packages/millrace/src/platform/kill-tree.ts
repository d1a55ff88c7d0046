import { spawnSync } from 'node:child_process';

/**
 * Kills a process and those that it started. On Unix these are the processes of its group if it leads one; else it is killed alone.
 * Windows has no groups: `taskkill` follows the tree of parents.
 */
export function killTree(pid: number, system: NodeJS.Platform = process.platform): void {
  if (system === 'win32') {
    spawnSync('taskkill', ['/T', '/F', '/PID', String(pid)], { stdio: 'ignore', windowsHide: true });
    return;
  }
  if (!kill(-pid)) kill(pid);
}

function kill(target: number): boolean {
  try {
    return process.kill(target, 'SIGKILL');
  } catch {
    return false;
  }
}
