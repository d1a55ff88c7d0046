/** Process information from the kernel (Linux: /proc). */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** Fields of /proc/<pid>/stat from the third on: the second is a name that may contain anything. Null if the process is gone. */
function statOf(pid: number): string[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}

/** A process and everything below it. */
export function tree(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    const parent = Number.isInteger(pid) ? Number(statOf(pid)?.[1]) : NaN;
    if (Number.isInteger(parent)) children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const found = [root];
  for (const pid of found) found.push(...(children.get(pid) ?? []));
  return found;
}

/** Milliseconds of processor time: user, system, and those of children that have ended. */
export function ownCpuOf(pid: number): number {
  const fields = statOf(pid)?.slice(11, 15) ?? [];
  return (fields.reduce((ticks, field) => ticks + Number(field), 0) * 1000) / ticksPerSecond;
}

/** Idle time of the machine's processors in milliseconds. */
export function idleOfMachine(): number {
  const [, , , , idle, waiting] = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]?.split(/ +/) ?? [];
  return ((Number(idle) + Number(waiting)) * 1000) / ticksPerSecond;
}

/** The same as `ownCpuOf`, of a process and of everything below it. */
export const cpuOf = (root: number): number => sum(tree(root), ownCpuOf);

function readMemory(file: string, key: string): number {
  try {
    const found = new RegExp(`^${key}:\\s+(\\d+) kB`, 'm').exec(readFileSync(file, 'utf8'));
    return Number(found?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

/** MiB that the process has in memory, pages shared with others included. */
export const residentOf = (pid: number): number => readMemory(`/proc/${pid}/status`, 'VmRSS');
/** MiB, the most that it ever had. */
export const peakOf = (pid: number): number => readMemory(`/proc/${pid}/status`, 'VmHWM');
/** MiB with each shared page divided among its processes. */
export const proportionalOf = (pid: number): number => readMemory(`/proc/${pid}/smaps_rollup`, 'Pss');

export const sum = (pids: readonly number[], of: (pid: number) => number): number =>
  pids.reduce((total, pid) => total + of(pid), 0);
