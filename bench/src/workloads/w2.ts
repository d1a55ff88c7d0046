/** Drain: no-op runs are queued, then one runner is started. */
import type { Runner, RunnerOptions, System } from '../system.ts';
import { now, until } from '../clock.ts';
import { account, Collector } from '../collector.ts';
import { openCaller } from '../open-caller.ts';
import { perRun, spent } from '../spent.ts';
import type { Figures, Workload } from '../workload.ts';
import type { Address, Profile } from '../system.ts';

const capMs = 240_000;

/** Triggers `n` runs through the system's own calls. */
export async function fill(system: System, address: Address, profile: Profile, n: number): Promise<void> {
  const caller = await openCaller(system, address, profile);
  await caller.ask({ act: 'fill', n });
  await caller.close();
}

interface Drained {
  readonly figures: Figures;
  readonly runner: Runner;
}

/** Starts a runner and waits until nothing is pending; the runner is left running. */
export async function drain(
  system: System,
  n: number,
  options: Omit<RunnerOptions, 'socket'>,
): Promise<Drained> {
  const collector = await Collector.open();
  const runner = await system.startRunner({ ...options, socket: collector.path });
  const before = spent(system, runner);
  await collector.reached(n, capMs);
  let left = NaN;
  await until(async () => (left = await system.pending()) === 0, 20_000);
  const doneAt = now();
  const after = spent(system, runner);
  const { numbers, startedAt } = await collector.starts();
  collector.close();
  const firstAt = startedAt.reduce((least, at) => Math.min(least, at), Infinity);
  const lastAt = startedAt.reduce((latest, at) => Math.max(latest, at), -Infinity);
  const completed = await system.completed?.();
  const figures = {
    runsPerS: (n / (doneAt - firstAt)) * 1000,
    runsPerSFromCall: (n / (doneAt - runner.startedAt)) * 1000,
    runsPerSFromSpawn: (n / (doneAt - runner.spawnedAt)) * 1000,
    spawnToFirstMs: firstAt - runner.spawnedAt,
    tailMs: doneAt - lastAt,
    ...perRun(before, after, n),
    left,
    completed: completed ?? null,
    ...account(numbers, n),
  };
  return { figures, runner };
}

export const w2: Workload = {
  title: 'W2 drain: no-op runs queued, one runner',
  systems: ['millrace', 'graphile', 'pgboss', 'bullmq:postgres', 'bullmq:always', 'bullmq:everysec'],
  compared: { runsPerS: 'more', runsPerSFromCall: 'more', runsPerSFromSpawn: 'more' },
  async measure(system, address, { n = 20_000, profile = 'tuned', concurrency }) {
    await fill(system, address, profile, n);
    const { figures, runner } = await drain(system, n, { profile, concurrency });
    await runner.stop();
    return figures;
  },
};
