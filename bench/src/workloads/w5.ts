/** Crash: the runner is killed with SIGKILL while runs are in flight, and another is started immediately. */
import { now, sleep } from '../clock.ts';
import { account, Collector } from '../collector.ts';
import { fill } from './w2.ts';
import type { Workload } from '../workload.ts';

const capMs = 100_000;

export const w5: Workload = {
  title: 'W5 crash: SIGKILL of the runner with 50 runs in flight, a new runner at once; default settings',
  systems: ['millrace', 'graphile', 'pgboss', 'bullmq:always'],
  compared: { lastS: 'less' },
  async measure(system, address, { n = 50, profile = 'default' }) {
    const first = await Collector.open();
    const killed = await system.startRunner({ profile, concurrency: n, hang: true, socket: first.path });
    await fill(system, address, profile, n);
    const allInFlight = await first.reached(n, 30_000);
    const inFlight = first.started;
    await sleep(1_000);

    const second = await Collector.open();
    const killedAt = now();
    await killed.kill();
    const runner = await system.startRunner({ profile, concurrency: n, socket: second.path });
    const all = await second.reached(n, capMs);
    await sleep(1_000);
    const { numbers, startedAt } = await second.starts();
    const left = await system.pending();
    await runner.stop();
    first.close();
    second.close();
    const seconds = startedAt.map((at) => (at - killedAt) / 1000).toSorted((a, b) => a - b);
    return {
      firstS: seconds[0] ?? null,
      medianS: seconds[seconds.length >> 1] ?? null,
      lastS: all ? (seconds[n - 1] ?? null) : null,
      inFlight: allInFlight ? n : inFlight,
      again: new Set(numbers).size,
      twice: account(numbers, n).twice,
      left,
      completed: (await system.completed?.()) ?? null,
    };
  },
};
