/** Sustained: 300 calls a second for 20 s, none waiting for another. */
import { latency } from '../latency.ts';
import type { Workload } from '../workload.ts';

const perSecond = 300;

export const w4: Workload = {
  title: 'W4 sustained: 300 calls a second, from the call to the code of the run',
  systems: ['millrace', 'graphile', 'pgboss', 'bullmq:always', 'bullmq:everysec'],
  compared: { p50Ms: 'less', p99Ms: 'less' },
  measure: (system, address, { n = perSecond * 20, profile = 'tuned' }) =>
    latency(system, address, { n, gapMs: 1000 / perSecond, open: true, profile }),
};
