import type { Paced } from './caller.ts';
import { now, sleep } from './clock.ts';
import { account, Collector } from './collector.ts';
import { openCaller } from './open-caller.ts';
import { perRun, spent } from './spent.ts';
import { percentile } from './statistics.ts';
import type { Address, Profile, System } from './system.ts';
import type { Figures } from './workload.ts';

interface Pace {
  readonly n: number;
  readonly gapMs: number;
  /** Calls do not wait for those before. */
  readonly open: boolean;
  readonly profile: Profile;
}

const warm = 20;

/** One runner, idle; then calls at a pace: from each call to the first line of its run's code. */
export async function latency(system: System, address: Address, pace: Pace): Promise<Figures> {
  const { n, profile } = pace;
  const collector = await Collector.open();
  const runner = await system.startRunner({ profile, socket: collector.path });
  const caller = await openCaller(system, address, profile);
  await sleep(1_500);
  await caller.ask({ act: 'paced', n: warm, gapMs: 20, open: false });
  await collector.reached(warm, 20_000);
  await sleep(1_000);
  const before = spent(system, runner);
  const startedAt = now();
  const called = await caller.ask<Paced>({ act: 'paced', n, gapMs: pace.gapMs, open: pace.open });
  const backlog = n + warm - collector.started;
  const producedMs = now() - startedAt;
  await collector.reached(n + warm - called.failed, 60_000);
  const drainedMs = now() - startedAt - producedMs;
  const after = spent(system, runner);
  // Time for duplicate runs to appear.
  await sleep(500);
  const all = await collector.starts();
  await caller.close();
  await runner.stop();
  collector.close();
  const counted = all.calledAt.flatMap((at, i) => (at >= startedAt ? [i] : []));
  const waits = counted.map((i) => (all.startedAt[i] ?? NaN) - (all.calledAt[i] ?? NaN));
  const { lost, twice } = account(
    counted.map((i) => all.numbers[i] ?? -1),
    n,
  );
  return {
    p50Ms: percentile(waits, 50),
    p95Ms: percentile(waits, 95),
    p99Ms: percentile(waits, 99),
    maxMs: percentile(waits, 100),
    callP50Ms: called.p50,
    callP99Ms: called.p99,
    ...(pace.open && { perS: (n / called.wallMs) * 1000, backlog, drainedMs, maxOpen: called.maxOpen }),
    ...perRun(before, after, n),
    failed: called.failed,
    lost: lost - called.failed,
    twice,
  };
}
