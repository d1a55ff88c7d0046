/** Memory of server, runner and its processes, the database apart: idle, and the most during W2. */
import { sleep } from '../clock.ts';
import { Collector } from '../collector.ts';
import { peakOf, proportionalOf, residentOf, sum, tree } from '../processes.ts';
import { drain, fill } from './w2.ts';
import type { Workload } from '../workload.ts';

export const w6: Workload = {
  title: 'W6 memory in MiB: server, runner and its processes, without the database',
  systems: ['millrace', 'graphile', 'pgboss', 'bullmq:always'],
  compared: { idleMiB: 'less', peakMiB: 'less' },
  async measure(system, address, { n = 20_000, profile = 'tuned', concurrency }) {
    const server = system.serverPid();
    const collector = await Collector.open();
    const quiet = await system.startRunner({ profile, concurrency, socket: collector.path });
    await sleep(5_000);
    const idle = parts(server, quiet.pid);
    await quiet.stop();
    collector.close();

    await fill(system, address, profile, n);
    let max = 0;
    let maxProportional = 0;
    let watched: number[] = [];
    const serverAtOnce = server ? [server] : [];
    const watching = setInterval(() => {
      max = Math.max(max, sum([...serverAtOnce, ...watched], residentOf));
    }, 20);
    // Dearer to read: the kernel walks all pages.
    const weighing = setInterval(() => {
      maxProportional = Math.max(maxProportional, sum([...serverAtOnce, ...watched], proportionalOf));
    }, 100);
    const spy = {
      ...system,
      startRunner: async (options: Parameters<typeof system.startRunner>[0]) => {
        const runner = await system.startRunner(options);
        watched = tree(runner.pid);
        return runner;
      },
    };
    const { runner } = await drain(spy, n, { profile, concurrency });
    clearInterval(watching);
    clearInterval(weighing);
    const executors = tree(runner.pid).slice(1);
    const peak = {
      peakMiB: max,
      peakProportionalMiB: maxProportional,
      peakServerMiB: server ? peakOf(server) : null,
      peakRunnerMiB: peakOf(runner.pid),
      peakExecutorsMiB: executors.length > 0 ? sum(executors, peakOf) : null,
    };
    await runner.stop();
    return { ...idle, ...peak };
  },
};

function parts(server: number | null, runner: number) {
  const executors = tree(runner).slice(1);
  const all = [...(server ? [server] : []), runner, ...executors];
  return {
    idleMiB: sum(all, residentOf),
    idleProportionalMiB: sum(all, proportionalOf),
    idleServerMiB: server ? residentOf(server) : null,
    idleRunnerMiB: residentOf(runner),
    idleExecutorsMiB: executors.length > 0 ? sum(executors, residentOf) : null,
  };
}
