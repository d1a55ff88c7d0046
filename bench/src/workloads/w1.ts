/** Trigger: 32 concurrent callers in one process, one run per call, no runner connected. */
import type { Burst } from '../caller.ts';
import { openCaller } from '../open-caller.ts';
import { cpuOf } from '../processes.ts';
import type { Workload } from '../workload.ts';

const callers = 32;

export const w1: Workload = {
  title: 'W1 trigger: 32 concurrent callers, one run a call, no runner',
  systems: [
    'millrace',
    'millrace:alone',
    'graphile',
    'pgboss',
    'bullmq:postgres',
    'bullmq:always',
    'bullmq:everysec',
  ],
  compared: { runsPerS: 'more' },
  async measure(system, address, { n = 20_000, profile = 'tuned' }) {
    const caller = await openCaller(system, address, profile);
    // Connections, caches, statements and compiled code: as in a process that has been up for a while.
    const warm = Math.min(1_000, n);
    await caller.ask<Burst>({ act: 'burst', n: warm, callers, first: n });
    const server = system.serverPid();
    const pids = [caller.pid, server ?? 0, system.databasePid()];
    const before = pids.map((pid) => (pid ? cpuOf(pid) : 0));
    const { wallMs, p50, p99 } = await caller.ask<Burst>({ act: 'burst', n, callers });
    const [client, ours, database] = pids.map(
      (pid, i) => ((pid ? cpuOf(pid) : 0) - (before[i] ?? 0)) * (1000 / n),
    );
    const queued = await system.pending();
    await caller.close();
    return {
      runsPerS: (n / wallMs) * 1000,
      p50Ms: p50,
      p99Ms: p99,
      clientUs: client ?? null,
      serverUs: server ? (ours ?? null) : null,
      databaseUs: database ?? null,
      lost: n + warm - queued,
    };
  },
};
