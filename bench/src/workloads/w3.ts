/** Latency on an idle system: a call every 20 ms. */
import { latency } from '../latency.ts';
import type { Workload } from '../workload.ts';

export const w3: Workload = {
  title: 'W3 idle latency: a call every 20 ms, from the call to the code of the run',
  systems: ['millrace', 'graphile', 'pgboss', 'bullmq:postgres', 'bullmq:always', 'bullmq:everysec'],
  compared: { p50Ms: 'less', p99Ms: 'less' },
  measure: (system, address, { n = 500, profile = 'tuned' }) =>
    latency(system, address, { n, gapMs: 20, open: false, profile }),
};
