import { cpuOf, ownCpuOf } from './processes.ts';
import type { Runner, System } from './system.ts';
import type { Figures } from './workload.ts';

/** Milliseconds. */
export interface Spent {
  readonly runner: number;
  readonly executors: number;
  readonly server: number;
  readonly database: number;
}

/** Processor time so far: steadier than a rate where others use the machine too. */
export function spent(system: System, { pid }: Runner): Spent {
  const runner = ownCpuOf(pid);
  const server = system.serverPid();
  return {
    runner,
    executors: cpuOf(pid) - runner,
    server: server === null ? 0 : ownCpuOf(server),
    database: cpuOf(system.databasePid()),
  };
}

/** Microseconds a run between two looks. */
export const perRun = (before: Spent, after: Spent, runs: number): Figures =>
  Object.fromEntries(
    Object.entries(after).map(([part, ms]) => [
      `${part}Us`,
      ((ms - before[part as keyof Spent]) * 1000) / runs,
    ]),
  );
